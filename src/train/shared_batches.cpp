#include "train/shared_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "exec/common_run.h"
#include "exec/place_program.h"
#include "hiaton/error.h"
#include "net/collect.h"
#include "net/deal.h"
#include "train/evaluate.h"

namespace hiaton::train {
namespace {

/// More bytes of a gradient than that are sent ahead, in a packet of their own: less than a packet would not
/// come sooner.
constexpr std::size_t kWorthSendingEarly = net::kPacketBytes;

/// The alignment of what stands behind the begin of a round: more than any element needs.
constexpr std::size_t kAlignmentOfExchanged = 64;

/// The channels of messages that other processes may send before this one takes part in what they are about.
constexpr std::array kMayComeEarly = {exec::CommonRun::kChannel, net::kDealChannel, net::kCollectChannel,
                                      PlacedTables::kChannel};

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
  group_ = processes_of_each(replicas);
}

void SharedBatches::run_together(std::size_t replicas) {
  together_ = processes_of_each(replicas);
  is_dealt_ = false;
}

std::size_t SharedBatches::processes_of_each(std::size_t replicas) const {
  return static_cast<std::size_t>(exec::processes_of_each(static_cast<int>(replicas), transport_.size()));
}

void SharedBatches::hold(std::vector<ParameterValues>& parameters, PlacedTables::Holders holders) {
  tables_ = std::make_unique<PlacedTables>(transport_, parameters, std::move(holders), computes());
  tables_->set_rounds(rounds_.done());
  rounds_.serve();
}

void SharedBatches::take_other(int from, const net::Header& header, net::Payload payload) {
  // It is of the round whose messages have come, or of the next one, or of one more where others are ahead.
  if (header.channel == kEarlyChannel && header.name + 1 - rounds_.done() <= 2) {
    early_.push_back({static_cast<std::size_t>(from), header.aux, header.name, std::move(payload)});
    return;
  }
  if (tables_ != nullptr && header.channel == PlacedTables::kChannel)
    return tables_->take(from, header, payload.bytes());
  if (std::ranges::find(kMayComeEarly, header.channel) != kMayComeEarly.end())
    return held_.hold(from, header, payload.bytes());
  throw ProgramError(fmt::format("{}: expected a message of a round, found one of channel {}",
                                 transport_.name(from), header.channel));
}

void SharedBatches::serve() {
  transport_.end([this](int from, const net::Header& header, std::span<const std::byte> payload) {
    if (tables_ == nullptr) throw InternalError("internal error: a process without tables serves");
    tables_->take(from, header, payload);
  });
}

bool SharedBatches::are_near() {
  double are_near = 1;
  for (int other = 0; other < transport_.size(); ++other) {
    if (other != transport_.self() && !transport_.is_near(other)) are_near = 0;
  }
  return std::ranges::all_of(gather({&are_near, 1}), [](double one) { return one != 0; });
}

std::vector<std::vector<std::byte>> SharedBatches::collect(std::span<const std::byte> own) {
  std::vector<net::ByteWriter> out = begin_exchange();
  if (self() != 0) out[0].borrow(own.data(), own.size());
  std::vector<std::vector<std::byte>> brought = exchange(out);
  brought[self()].assign(own.begin(), own.end());
  return brought;
}

std::vector<std::byte> SharedBatches::bring(std::size_t parameter, std::span<const std::byte> own) {
  const auto holder = static_cast<std::size_t>(tables_->holders()[parameter].value_or(0));
  const std::size_t first = holder % group_;
  return std::move(collect(self() == first ? own : std::span<const std::byte>())[first]);
}

std::vector<net::ByteWriter> SharedBatches::begin_exchange() {
  std::vector<net::ByteWriter> out = begin_round();
  for (net::ByteWriter& to : out) to.align(kAlignmentOfExchanged);
  return out;
}

std::vector<std::vector<std::byte>> SharedBatches::exchange(std::span<const net::ByteWriter> out) {
  std::vector<std::vector<std::byte>> all(processes());
  exchange(
      out,
      [&](std::size_t from, net::ByteReader& in) {
        in.align(kAlignmentOfExchanged);
        const std::size_t size = in.left();
        const std::byte* bytes = in.take(size);
        all[from].assign(bytes, bytes + size);
      },
      [] {});
  return all;
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

void SharedBatches::begin_sums(std::size_t parts, Gradients& sums, std::span<const DividedBy> divided) {
  const bool is_placed = tables_ != nullptr;
  gradients_.emplace(parts, processes(), self(), sums, group_,
                     is_placed ? std::span(tables_->holders()) : std::span<const std::optional<int>>(),
                     divided);
}

/// Memory in which gradients have been sent is never written again: the other process may still read it.
void SharedBatches::make_sendable(Gradients& own) {
  sendable_.resize(own.size());
  if (!gradients_->sends_whole()) return;  // the others get ranges of elements
  const int other = 1 - transport_.self();
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t bytes = gradients_->early_bytes(own[i], i);
    if (!own[i].dense || bytes <= kWorthSendingEarly) continue;
    auto payload = std::make_shared<net::Payload>(
        transport_.new_payload(other, GradientExchange::kEarlyElements + bytes));
    const std::span<std::byte> message = payload->writable_bytes();
    GradientExchange::begin_early_dense(message);
    Tensor& values = own.values(i);
    values =
        Tensor(values.dtype(), values.dims(), message.data() + GradientExchange::kEarlyElements, payload);
    sendable_[i] = std::move(payload);
  }
}

/// Whether the sum stands where it can be sent from.
bool SharedBatches::is_sendable(const Gradients& own, std::size_t parameter) const {
  if (parameter >= sendable_.size() || sendable_[parameter] == nullptr || !own[parameter].dense) return false;
  const std::span<const std::byte> message = sendable_[parameter]->bytes();
  return own[parameter].values.data<std::byte>() == message.data() + GradientExchange::kEarlyElements;
}

void SharedBatches::send_early(const Gradients& own, std::size_t parameter) {
  if (gradients_->is_early(parameter) ||
      gradients_->early_bytes(own[parameter], parameter) <= kWorthSendingEarly)
    return;
  const net::Header header{kEarlyChannel, static_cast<uint32_t>(parameter), rounds_.done()};
  if (is_sendable(own, parameter)) {
    transport_.send_payload(1 - transport_.self(), header, *sendable_[parameter]);
    return gradients_->set_early(parameter);
  }
  std::vector<net::ByteWriter> out(processes());
  gradients_->write_early(own, parameter, out);
  for (std::size_t to = 0; to < processes(); ++to) {
    if (to != self() && gradients_->gets(to, parameter))
      transport_.send_written(static_cast<int>(to), header, out[to]);
  }
  gradients_->set_early(parameter);
  transport_.flush();
}

/// Messages may overtake each other: those of the round may be here, and not all that have gone ahead.
void SharedBatches::read_early() {
  const uint64_t round = rounds_.done() - 1;
  std::size_t read = 0;
  const auto read_more = [&] {
    for (; read < early_.size(); ++read) {
      Early& one = early_[read];
      if (one.round != round) continue;
      const std::string sender = "message from " + transport_.name(static_cast<int>(one.from));
      net::ByteReader in(one.payload.bytes(), sender);
      gradients_->read_early(one.from, one.parameter, in);
    }
    return gradients_->early_to_come();
  };
  rounds_.wait_while(read_more);
  held_.put_back(transport_);
}

void SharedBatches::add_up(std::span<const SubtreeSum> own, std::vector<double>& losses) {
  GradientExchange& gradients = *gradients_;
  for (std::size_t i = 0; own.size() == 1 && i < own[0].sums->size(); ++i) {
    if (is_sendable(*own[0].sums, i)) send_early(*own[0].sums, i);
  }
  const std::vector<double> own_losses = std::exchange(losses, {});
  std::vector<net::ByteWriter> out = begin_round();
  for (std::size_t to = 0; to < out.size(); ++to) {
    if (to != self()) write_all(std::span<const double>(own_losses), out[to]);
  }
  gradients.write_parts(own, out);
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
  read_early();
  gradients.add_up();
  arrived_.clear();
  std::erase_if(early_, [round = rounds_.done()](const Early& one) { return one.round < round; });
  has_sums_ = !gradients.exchanges_sums();
  if (!gradients.may_exchange_sums_later()) exchange_sums();
}

void SharedBatches::exchange_sums() {
  if (has_sums_) return;
  std::vector<net::ByteWriter> out = begin_round();
  for (std::size_t to = 0; to < out.size(); ++to) {
    if (to != self()) gradients_->write_sums(to, out[to]);
  }
  exchange(
      out, [&](std::size_t from, net::ByteReader& in) { gradients_->read_sums(from, in); }, [] {});
  has_sums_ = true;
}

void SharedBatches::exchange_updates(std::vector<ParameterValues>& parameters) {
  if (!gradients_->has_divided()) return;
  std::vector<net::ByteWriter> out = begin_round();
  for (std::size_t to = 0; to < out.size(); ++to) {
    if (to == self()) continue;
    if (!has_sums_) gradients_->write_sums(to, out[to]);
    gradients_->write_updates(parameters, out[to]);
  }
  exchange(
      out,
      [&](std::size_t from, net::ByteReader& in) {
        if (!has_sums_) gradients_->read_sums(from, in);
        gradients_->read_updates(from, parameters, in);
      },
      [] {});
  has_sums_ = true;
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
