// Rounds in which every process tells each other one something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "net/bytes.h"
#include "net/transport.h"

namespace hiaton::net {

/// Each process makes its rounds in the same order. While there are rounds, nothing else is sent.
class Rounds {
 public:
  explicit Rounds(Transport& transport) : transport_(transport) {}

  /// Sends each other process what `out` has for it, by number, and returns what each has sent here: nothing
  /// from this process itself.
  std::vector<Payload> exchange(std::span<const ByteWriter> out);

 private:
  using Arrived = std::vector<std::optional<Payload>>;  ///< by process

  void take(int from, const Header& header, Payload payload);

  Transport& transport_;
  uint64_t round_ = 0;  ///< the round that is under way, or comes next
  /// Messages of this round and of the next one, for another process may have ended this round already.
  std::deque<Arrived> arrived_;
};

}  // namespace hiaton::net
