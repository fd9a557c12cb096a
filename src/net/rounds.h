// Rounds in which every process tells each other one something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "net/bytes.h"
#include "net/transport.h"

namespace hiaton::net {

/// Each process makes its rounds in the same order.
class Rounds {
 public:
  /// `on_other` takes the messages of channels other than kChannel that come during a round; there are none
  /// where it is empty.
  explicit Rounds(Transport& transport, Transport::OnPayload on_other = {})
      : transport_(transport), on_other_(std::move(on_other)) {}

  static constexpr uint32_t kChannel = 0;

  /// Sends each other process what `out` has for it, by number, and returns what each has sent here: nothing
  /// from this process itself.
  std::vector<Payload> exchange(std::span<const ByteWriter> out);
  /// Between two rounds: takes messages until `to_come`, which says how many packets at least are still to
  /// come, is 0.
  void wait_while(const std::function<std::size_t()>& to_come);
  /// From now on others may wait for an answer of this process while it waits: it looks at each message as it
  /// comes. Else it may be woken late for what is of no round.
  void serve() { serves_ = true; }
  /// How many rounds are over.
  uint64_t done() const { return round_; }

 private:
  using Arrived = std::vector<std::optional<Payload>>;  ///< by process

  void take(int from, const Header& header, Payload payload);
  bool poll();

  Transport& transport_;
  const Transport::OnPayload on_other_;
  bool serves_ = false;
  uint64_t round_ = 0;  ///< the round that is under way, or comes next
  /// Messages of this round and of the next one, for another process may have ended this round already.
  std::deque<Arrived> arrived_;
};

}  // namespace hiaton::net
