#include "train/shared_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/common_run.h"
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

void SharedBatches::set_replicas(std::size_t replicas) {
  if (replicas == 0 || processes() % replicas != 0) {
    throw ProgramError(
        fmt::format("expected a number of processes that is a multiple of the replicas, {}, found {}",
                    replicas, processes()));
  }
  group_ = processes() / replicas;
}

void SharedBatches::hold(std::vector<ParameterValues>& parameters, PlacedTables::Holders holders) {
  tables_ = std::make_unique<PlacedTables>(transport_, parameters, std::move(holders), computes());
  tables_->set_rounds(rounds_.done());
}

void SharedBatches::take_other(int from, const net::Header& header, std::span<const std::byte> payload) {
  if (header.channel == exec::CommonRun::kChannel) return held_.hold(from, header, payload);
  if (tables_ != nullptr) return tables_->take(from, header, payload);
  throw ProgramError(fmt::format("{}: expected a message of a round, found one of channel {}",
                                 transport_.name(from), header.channel));
}

void SharedBatches::serve() {
  transport_.end([this](int from, const net::Header& header, std::span<const std::byte> payload) {
    take_other(from, header, payload);
  });
}

std::vector<std::byte> SharedBatches::bring(std::size_t parameter, std::span<const std::byte> own) {
  const auto holder = static_cast<std::size_t>(tables_->holders()[parameter].value_or(0));
  const std::size_t first = holder % group_;
  std::vector<net::ByteWriter> out = begin_round();
  if (self() == first) out[0].raw(own.data(), own.size());
  std::vector<std::byte> brought;
  exchange(
      out,
      [&](std::size_t from, net::ByteReader& in) {
        const std::size_t size = in.left();
        const std::byte* bytes = in.take(size);
        if (from == first) brought.assign(bytes, bytes + size);
      },
      [&] {
        if (self() == first) brought.assign(own.begin(), own.end());
      });
  return brought;
}

/// Each begins with whether training is to end.
std::vector<net::ByteWriter> SharedBatches::begin_round() {
  std::vector<net::ByteWriter> out(processes());
  says_cancelled_ = is_set(cancel_);
  for (net::ByteWriter& to : out) to.number(static_cast<uint8_t>(says_cancelled_ ? 1 : 0));
  return out;
}

template <class Read, class ReadOwn>
void SharedBatches::exchange(std::span<const net::ByteWriter> out, const Read& read,
                             const ReadOwn& read_own) {
  if (tables_ != nullptr) tables_->answer_waiting();
  arrived_ = rounds_.exchange(out);
  held_.put_back(transport_);
  if (tables_ != nullptr) tables_->set_rounds(rounds_.done());
  bool is_cancelled = says_cancelled_;
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    if (i == self()) {
      read_own();
      continue;
    }
    const std::string sender = "message from " + transport_.name(static_cast<int>(i));
    net::ByteReader in(arrived_[i].bytes(), sender);
    is_cancelled |= in.number<uint8_t>() != 0;
    read(i, in);
    in.require_end();
  }
  if (is_cancelled) cancelled_.store(true, std::memory_order_relaxed);  // read by this thread
}

void SharedBatches::add_up(std::size_t parts, std::span<const SubtreeSum> own, std::vector<double>& losses,
                           Gradients& sums) {
  const bool is_placed = tables_ != nullptr;
  GradientExchange gradients(
      parts, processes(), self(), sums, group_,
      is_placed ? std::span(tables_->holders()) : std::span<const std::optional<int>>());
  const std::vector<double> own_losses = std::exchange(losses, {});
  std::vector<net::ByteWriter> out = begin_round();
  for (std::size_t to = 0; to < out.size(); ++to) {
    if (to == self()) continue;
    write_all(std::span<const double>(own_losses), out[to]);
    gradients.write_parts(own, to, out[to]);
  }
  exchange(
      out,
      [&](std::size_t from, net::ByteReader& in) {
        append_numbers(losses, in);
        gradients.read_parts(from, in);
      },
      [&] {
        losses.insert(losses.end(), own_losses.begin(), own_losses.end());
        gradients.take_own(own);
      });
  gradients.add_up();
  out = begin_round();
  for (std::size_t to = 0; to < out.size(); ++to) {
    if (to != self()) gradients.write_sums(to, out[to]);
  }
  exchange(
      out, [&](std::size_t from, net::ByteReader& in) { gradients.read_sums(from, in); }, [] {});
}

std::vector<double> SharedBatches::gather(std::span<const double> own) {
  std::vector<net::ByteWriter> out = begin_round();
  for (net::ByteWriter& to : out) write_all(own, to);
  std::vector<double> numbers;
  exchange(
      out, [&](std::size_t /*from*/, net::ByteReader& in) { append_numbers(numbers, in); },
      [&] { numbers.insert(numbers.end(), own.begin(), own.end()); });
  return numbers;
}

}  // namespace hiaton::train
