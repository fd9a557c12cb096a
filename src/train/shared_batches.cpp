#include "train/shared_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hiaton/error.h"
#include "train/evaluate.h"

namespace hiaton::train {
namespace {

template <class T>
void write_all(std::span<const T> values, net::ByteWriter& out) {
  out.compact(values.size());
  out.raw(values.data(), values.size_bytes());
}

template <class T>
std::vector<T> read_all(std::size_t most, net::ByteReader& in) {
  const uint64_t count = in.compact();
  if (count > most) in.fail(fmt::format("expected at most {} numbers, found {}", most, count));
  std::vector<T> values(static_cast<std::size_t>(count));
  const std::byte* bytes = in.take(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes, values.size() * sizeof(T));
  return values;
}

void append_numbers(std::vector<double>& numbers, net::ByteReader& in) {
  const auto others = read_all<double>(in.left() / sizeof(double), in);
  numbers.insert(numbers.end(), others.begin(), others.end());
}

}  // namespace

/// Each begins with whether training is to end.
std::vector<net::ByteWriter> SharedBatches::begin_round() const {
  std::vector<net::ByteWriter> out(processes());
  for (net::ByteWriter& to : out) to.number(static_cast<uint8_t>(is_set(cancel_) ? 1 : 0));
  return out;
}

template <class Read>
void SharedBatches::exchange(std::vector<net::ByteWriter> out, const Read& read) {
  arrived_ = rounds_.exchange(std::move(out));
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    const std::string sender = "message from " + transport_.name(static_cast<int>(i));
    net::ByteReader in(arrived_[i], sender);
    if (in.number<uint8_t>() != 0) cancelled_.store(true, std::memory_order_relaxed);  // read by this thread
    read(i, in);
    in.require_end();
  }
}

void SharedBatches::add_up(std::size_t parts, std::span<const SubtreeSum> own, std::vector<double>& losses,
                           Gradients& sums) {
  GradientExchange gradients(parts, processes(), self(), sums);
  std::vector<net::ByteWriter> out = begin_round();
  for (std::size_t to = 0; to < out.size(); ++to) {
    write_all(std::span<const double>(losses), out[to]);
    gradients.write_parts(own, to, out[to]);
  }
  losses.clear();
  exchange(std::move(out), [&](std::size_t from, net::ByteReader& in) {
    append_numbers(losses, in);
    gradients.read_parts(from, in);
  });
  gradients.add_up();
  out = begin_round();
  for (std::size_t to = 0; to < out.size(); ++to) gradients.write_sums(out[to]);
  exchange(std::move(out), [&](std::size_t from, net::ByteReader& in) { gradients.read_sums(from, in); });
}

std::vector<double> SharedBatches::gather(std::span<const double> own) {
  std::vector<net::ByteWriter> out = begin_round();
  for (net::ByteWriter& to : out) write_all(own, to);
  std::vector<double> numbers;
  exchange(std::move(out), [&](std::size_t /*from*/, net::ByteReader& in) { append_numbers(numbers, in); });
  return numbers;
}

}  // namespace hiaton::train
