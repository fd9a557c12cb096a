// Any bytes are either a packet, a value and the arguments of a call, or an error that says what was
// expected. Values are written as bytes that read back to the same values, and nothing of them is left
// behind.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

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

/// As the arguments of a call that a worker takes into a run.
void read_arguments(std::span<const std::byte> bytes) {
  static const std::vector<Type> types{tree_type(), DType::I32, tree_type(),
                                       Type(DType::Bool, {{-1, "n"}, {-1, "m"}})};
  static const ValueCodec codec(types);
  const std::unique_ptr<DataHeap, LeaveHeap> heap(DataHeap::make([](std::size_t) { return true; }));
  TensorHeap tensor_heap([](std::size_t) { return true; }, [](std::size_t) {});
  TensorCells tensors(tensor_heap);
  DataCells data(*heap, &tensors);
  const RunCells cells{&data, &tensors};
  const auto read = [&](std::span<const std::byte> from, std::vector<Slot>& slots) {
    ByteReader in(from, "input");
    codec.read_slots(in, cells, slots);
  };
  const auto release = [&](const std::vector<Slot>& slots) {
    for (std::size_t i = 0; i < slots.size(); ++i) codec.release_slot(cells, i, slots[i]);
  };
  try {
    std::vector<Slot> slots(types.size());
    read(bytes, slots);
    ByteWriter once;
    codec.write_slots(slots, once);
    release(slots);
    read(once.bytes(), slots);
    ByteWriter twice;
    codec.write_slots(slots, twice);
    release(slots);
    if (!std::ranges::equal(once.bytes(), twice.bytes())) std::abort();
  } catch (const ProgramError&) {
  }
  if (heap->count_values() != 0 || tensor_heap.count_tensors() != 0) std::abort();
}

/// As the arguments of a call whose tensors of a known size go to rows: where the elements shall stand makes
/// no difference.
void read_rows(std::span<const std::byte> bytes) {
  static const std::vector<Type> types{Type(DType::F32, {{3, ""}, {2, ""}}), tree_type(),
                                       Type(DType::I64, {{-1, "n"}}), Type(DType::Bool, {{5, ""}})};
  static const ValueCodec codec(types);
  std::array<std::byte, 3 * 2 * sizeof(float)> first{};
  std::array<std::byte, 5> last{};
  const std::array<std::byte*, 4> rows{first.data(), nullptr, nullptr, last.data()};
  // What has been read, as values that hold it; nothing where it is an error.
  const auto read = [&](std::span<std::byte* const> to) {
    std::vector<Value> values;
    std::vector<Slot> slots(types.size());
    ByteReader in(bytes, "input");
    try {
      codec.read_slots(in, slots, to);
    } catch (const ProgramError&) {
      return values;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!to.empty() && to[i] != nullptr) {
        const ValueCodec::KnownSize size = *codec.known_size(i);
        values.emplace_back(Tensor(size.dtype, size.dims, to[i], nullptr));
      } else {
        values.push_back(types[i].is_data() ? Value(Data::adopt(slots[i].data))
                                            : Value(Tensor::adopt(slots[i].tensor)));
      }
    }
    return values;
  };
  const auto written = [](const std::vector<Value>& values) {
    ByteWriter out;
    for (std::size_t i = 0; i < values.size(); ++i) ValueCodec(types[i]).write(values[i], out);
    std::vector<std::byte> all(out.size());
    out.copy_to(all.data());
    return all;
  };
  if (written(read(rows)) != written(read({}))) std::abort();
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
  if (choice % 4 == 0) read_value(input.subspan(1));
  if (choice % 4 == 1) receive_packet(input.subspan(1), false);
  if (choice % 4 == 2) receive_packet(input.subspan(1), true);
  if (choice % 8 == 3) read_arguments(input.subspan(1));
  if (choice % 8 == 7) read_rows(input.subspan(1));
  return 0;
}
