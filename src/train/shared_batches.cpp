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

constexpr int32_t kMostClasses = 1'000'000;

Prediction read_prediction(const Tree& tree, net::ByteReader& in) {
  Prediction prediction;
  prediction.nodes = read_all<int32_t>(tree.nodes.size(), in);
  prediction.classes = in.number<int32_t>();
  if (prediction.classes < 0 || prediction.classes > kMostClasses)
    in.fail(fmt::format("expected at most {} classes, found {}", kMostClasses, prediction.classes));
  prediction.probabilities =
      read_all<float>(prediction.nodes.size() * static_cast<std::size_t>(prediction.classes), in);
  return prediction;
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
    const auto others = read_all<double>(in.left() / sizeof(double), in);
    losses.insert(losses.end(), others.begin(), others.end());
    gradients.read_parts(from, in);
  });
  gradients.add_up();
  out = begin_round();
  for (std::size_t to = 0; to < out.size(); ++to) gradients.write_sums(out[to]);
  exchange(std::move(out), [&](std::size_t from, net::ByteReader& in) { gradients.read_sums(from, in); });
}

std::vector<Prediction> SharedBatches::gather(std::span<const Tree* const> trees,
                                              std::span<const Prediction> own) {
  std::vector<net::ByteWriter> out = begin_round();
  for (net::ByteWriter& to : out) {
    for (const Prediction& prediction : own) {
      write_all(std::span<const int32_t>(prediction.nodes), to);
      to.number(prediction.classes);
      write_all(std::span<const float>(prediction.probabilities), to);
    }
  }
  std::vector<Prediction> predictions;
  exchange(std::move(out), [&](std::size_t from, net::ByteReader& in) {
    const PartRange range = parts_of(from, processes(), trees.size());
    for (std::size_t i = range.begin; i < range.end; ++i)
      predictions.push_back(read_prediction(*trees[i], in));
  });
  return predictions;
}

}  // namespace hiaton::train
