#include "hiaton/initializer.h"

#include <fmt/format.h>

#include "hiaton/value.h"

namespace hiaton {
namespace {

constexpr std::string_view kKindNames[] = {"zeros", "ones", "uniform", "normal", "glorot"};

}  // namespace

Initializer default_initializer(std::size_t rank) {
  return {.kind = rank >= 2 ? Initializer::Kind::Glorot : Initializer::Kind::Zeros};
}

std::string_view name_of(Initializer::Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<Initializer::Kind> initializer_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kKindNames); ++i) {
    if (kKindNames[i] == name) return static_cast<Initializer::Kind>(i);
  }
  return std::nullopt;
}

bool takes_number(Initializer::Kind kind) {
  return kind == Initializer::Kind::Uniform || kind == Initializer::Kind::Normal;
}

std::string to_string(const Initializer& initializer) {
  if (!takes_number(initializer.kind)) return std::string(name_of(initializer.kind));
  return fmt::format("{}({})", name_of(initializer.kind), to_string(Value(initializer.number)));
}

}  // namespace hiaton
