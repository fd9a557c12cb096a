// Many examples, spread: process 0 has them and deals them out (dealing.h); all processes work on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "net/bytes.h"
#include "net/dealing.h"
#include "net/transport.h"

namespace hiaton::net {

/// The channel of its messages. They may come while a process is still in the round before (net/rounds.h).
inline constexpr uint32_t kDealChannel = 4;

/// What is dealt out. Each process has one.
class Dealt {
 public:
  virtual ~Dealt() = default;
  /// Process 0: how many things there are.
  virtual std::size_t size() const = 0;
  /// Process 0: writes those of the range.
  virtual void write(const Range& range, ByteWriter& things) = 0;
  /// Any process: works on what write() has written, and writes the results.
  virtual void work(ByteReader& things, ByteWriter& results) = 0;
  /// Process 0: takes the results of a range; ranges come in order, without gaps.
  virtual void take(const Range& range, ByteReader& results) = 0;
  /// Process 0: works on a range itself. What it returns takes the results, when it is the range's turn.
  /// Unless it is replaced, all goes through bytes.
  virtual std::function<void()> work_here(const Range& range);
};

/// To be called by all processes. Deals out at most `most` things at once.
void deal(Transport& transport, Dealt& dealt, std::size_t most);

}  // namespace hiaton::net
