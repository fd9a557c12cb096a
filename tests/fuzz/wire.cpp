// Any bytes are either a packet and a value, or an error that says what was expected. A value is written as
// bytes that read back to the same value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "hiaton/error.h"
#include "net/simulated.h"
#include "net/transport.h"
#include "net/values.h"

namespace {

using namespace hiaton;
using namespace hiaton::net;

/// data Tree = Leaf(word: i64, weights: f32[n, 2]) | Node(left: Tree, mark: bool, right: Tree) | None
Type tree_type() {
  DataTypes types;
  const Type tree = types.declare("Tree");
  types.define(tree, {{"Leaf", {{"word", DType::I64}, {"weights", Type(DType::F32, {{-1, "n"}, {2, ""}})}}},
                      {"Node", {{"left", tree}, {"mark", DType::Bool}, {"right", tree}}},
                      {"None", {}}});
  return tree;
}

void read_value(std::span<const std::byte> bytes) {
  static const ValueCodec codec(tree_type());
  ByteReader in(bytes, "input");
  Value value;
  try {
    value = codec.read(in);
  } catch (const ProgramError&) {
    return;
  }
  ByteWriter once;
  codec.write(value, once);
  ByteReader again(once.bytes(), "written");
  ByteWriter twice;
  codec.write(codec.read(again), twice);
  if (once.bytes().size() != twice.bytes().size() ||
      std::memcmp(once.bytes().data(), twice.bytes().data(), once.bytes().size()) != 0) {
    std::abort();
  }
}

/// As the first packet from another process, and as one after both have joined.
void receive_packet(std::span<const std::byte> bytes, bool joins_first) {
  SimulatedNetwork network(2, Delivery::InOrder, 1);
  const auto links = {network.link(0), network.link(1)};
  Transport receiver(**links.begin(), {});
  receiver.introduce({});
  if (joins_first) {
    Transport sender(**(links.begin() + 1), {});
    sender.introduce({});
    network.deliver();
    receiver.try_join();
  }
  Packet packet(bytes.size());
  packet.resize(bytes.size());
  if (!bytes.empty()) std::memcpy(packet.data(), bytes.data(), bytes.size());
  (*(links.begin() + 1))->send(0, std::move(packet));
  while (network.deliver()) {
  }
  try {
    receiver.poll([](int, const Header&, std::span<const std::byte> payload) { read_value(payload); });
    receiver.try_end();
  } catch (const Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, std::size_t size) {
  const auto input = std::as_bytes(std::span(bytes, size));
  if (input.empty()) return 0;
  const auto choice = static_cast<uint8_t>(input[0]);
  if (choice % 3 == 0) read_value(input.subspan(1));
  if (choice % 3 == 1) receive_packet(input.subspan(1), false);
  if (choice % 3 == 2) receive_packet(input.subspan(1), true);
  return 0;
}
