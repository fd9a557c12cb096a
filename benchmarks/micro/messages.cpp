// What it takes to write data values into messages between processes, and to read them there.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>

#include "net/values.h"

namespace {

using namespace hiaton;

/// A list of so many numbers in the memory of a run.
struct ListOfRun {
  std::unique_ptr<DataHeap, LeaveHeap> heap{DataHeap::make([](std::size_t) { return true; })};
  DataCells data{*heap};
  net::RunCells cells{&data, nullptr};
  DataTypes types;
  const Type type = types.list_of(DType::I64);
  const net::ValueCodec codec{type};
  std::array<Slot, 1> list{};
  net::ByteWriter message;

  explicit ListOfRun(int64_t length) {
    net::ByteWriter numbers;
    constexpr uint64_t kCons = 1 << 2;
    for (int64_t i = 0; i < length; ++i) {
      numbers.compact(kCons);
      numbers.number(i);
    }
    numbers.compact(0);
    read(numbers);
    codec.write_slots(list, message);
  }
  ~ListOfRun() { data.release(list[0].data); }
  void read(const net::ByteWriter& from) {
    net::ByteReader in(from.bytes(), "a list");
    codec.read_slots(in, cells, list);
  }
};

void write_list(benchmark::State& state) {
  ListOfRun list(state.range(0));
  for (auto _ : state) {
    list.message.clear();
    list.codec.write_slots(list.list, list.message);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(list.message.bytes().size()));
}
BENCHMARK(write_list)->Arg(10)->Arg(1000)->Arg(1'000'000);

void read_list(benchmark::State& state) {
  ListOfRun list(state.range(0));
  for (auto _ : state) {
    list.data.release(list.list[0].data);
    list.read(list.message);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(list.message.bytes().size()));
}
BENCHMARK(read_list)->Arg(10)->Arg(1000)->Arg(1'000'000);

}  // namespace
