#include "net/identity.h"

#include <fmt/format.h>

#include "kernels/cpu.h"

namespace hiaton::net {
namespace {

std::string_view instructions_of_this_machine() {
  switch (kernels::instruction_set()) {
    case kernels::InstructionSet::Portable:
      return "portable";
    case kernels::InstructionSet::Avx2:
      return "avx2";
    case kernels::InstructionSet::Avx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace

Identity identity_for(std::string program) {
  return {HIATON_VERSION, std::string(instructions_of_this_machine()), std::move(program), {}};
}

std::string hash_of(std::span<const std::byte> bytes) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001B3;
  return fmt::format("{:016x}", hash);
}

void write_identity(const Identity& identity, ByteWriter& out) {
  out.text(identity.version);
  out.text(identity.instructions);
  out.text(identity.program);
  out.text(identity.problem);
}

Identity read_identity(ByteReader& in) {
  Identity identity;
  identity.version = in.text();
  identity.instructions = in.text();
  identity.program = in.text();
  identity.problem = in.text();
  return identity;
}

std::string difference(const Identity& first, const Identity& other) {
  if (other.version != first.version)
    return fmt::format(" runs hiaton {}, process 0 hiaton {}", other.version, first.version);
  if (other.instructions != first.instructions) {
    return fmt::format(" computes with {} instructions, process 0 with {}", other.instructions,
                       first.instructions);
  }
  if (other.program != first.program) {
    const auto shown = [](const std::string& program) { return program.empty() ? "no program" : program; };
    return fmt::format(" has {}, process 0 {}; expected the same program, arguments and options in all",
                       shown(other.program), shown(first.program));
  }
  return {};
}

}  // namespace hiaton::net
