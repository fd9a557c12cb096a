#include "net/rounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace hiaton::net {
namespace {

constexpr std::chrono::milliseconds kLongestPause(100);
constexpr std::chrono::microseconds kPauseBetweenPieces(20);  // of a packet that leaves piece by piece
constexpr std::size_t kRoundsUnderWay = 2;

}  // namespace

void Rounds::take(int from, const Header& header, Payload payload) {
  if (header.channel != kChannel && on_other_) return on_other_(from, header, std::move(payload));
  const uint64_t ahead = header.name - round_;
  if (ahead < arrived_.size()) {
    auto& place = arrived_[ahead][static_cast<std::size_t>(from)];
    if (!place) {
      place = std::move(payload);
      return;
    }
  }
  throw ProgramError(fmt::format("{}: expected a message of round {} or {}, found one of round {}",
                                 transport_.name(from), round_, round_ + 1, header.name));
}

/// Whether something has come.
bool Rounds::poll() {
  const auto take = [this](int from, const Header& header, Payload payload) {
    this->take(from, header, std::move(payload));
  };
  return transport_.poll_payloads(take) > 0;
}

void Rounds::wait_while(const std::function<std::size_t()>& to_come) {
  while (arrived_.size() < kRoundsUnderWay)
    arrived_.emplace_back(static_cast<std::size_t>(transport_.size()));
  while (const std::size_t packets = to_come()) {
    if (!poll()) transport_.wait(kLongestPause, serves_ ? 1 : packets);
  }
}

std::vector<Payload> Rounds::exchange(std::span<const ByteWriter> out) {
  const auto size = static_cast<std::size_t>(transport_.size());
  HIATON_CHECK(out.size() == size);
  while (arrived_.size() < kRoundsUnderWay) arrived_.emplace_back(size);
  const auto self = static_cast<std::size_t>(transport_.self());
  for (std::size_t i = 0; i < size; ++i) {
    if (i != self) transport_.send_written(static_cast<int>(i), {.name = round_}, out[i]);
  }
  transport_.flush();
  arrived_[0][self].emplace();
  const auto is_to_come = [](const auto& one) { return !one.has_value(); };
  wait_while([&] { return static_cast<std::size_t>(std::ranges::count_if(arrived_[0], is_to_come)); });
  // The others wait for what has not left yet, and it would not leave while this process computes.
  while (!transport_.has_sent_all()) {
    if (!poll()) transport_.wait(kPauseBetweenPieces);
  }
  std::vector<Payload> all;
  for (auto& one : arrived_[0]) all.push_back(std::move(*one));
  arrived_.pop_front();
  ++round_;
  return all;
}

}  // namespace hiaton::net
