// What workers say to each other when one runs a call of another.
//
//   caller                                        callee's worker
//     CALL(function, phase 0): arguments    ->      makes the frame, under the return name
//                                           <-      RETURN(phase 0): results
//     CALL(phase 1): gradients              ->      goes on in that frame
//                                           <-      RETURN(phase 1): gradients, OVER
//
// The frame of the callee lives where it runs until its last phase is over. The caller's frame stays until
// OVER and all results are there: it is the chain of calls. Nothing here is a pointer into another worker's
// frames, so the same messages go to other processes (process_calls.h), where one may overtake another.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "exec/flow/run/flow_frame.h"

namespace hiaton::exec::flow {

/// Where the results of a remote call go: a place in the caller's table of remote calls. The generation tells
/// the calls apart that have had the same place.
struct ReturnName {
  uint16_t caller = 0;  ///< worker or process
  uint16_t generation = 0;
  uint32_t slot = 0;

  uint64_t bits() const { return uint64_t{caller} << 48 | uint64_t{generation} << 32 | slot; }
};

/// A value on its way to another worker, or from one, with a reference of its own.
class SentValue {
 public:
  /// Takes over the reference of the cell.
  SentValue(SlotKind kind, const Cell& cell) : kind_(kind), cell_(cell) {}
  SentValue(SentValue&& other) noexcept : kind_(other.kind_), cell_(std::exchange(other.cell_, Cell())) {}
  SentValue& operator=(SentValue&& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~SentValue() { release(kind_, cell_); }
  SlotKind kind() const { return kind_; }
  const Cell& cell() const { return cell_; }
  /// Gives the reference up.
  Cell take() { return std::exchange(cell_, Cell()); }

 private:
  SlotKind kind_;
  Cell cell_;
};

/// Returns what another thread may hold in the place of the cell, whose reference goes over to it: a block is
/// counted by one thread alone, so what stands in one is copied to a tensor of its own.
Cell for_another_thread(const Cell& cell);

struct Message {
  enum class Kind : uint8_t { Call, Return };
  /// The phase of a Return without results, which only says that the call is over.
  static constexpr uint32_t kNoPhase = UINT32_MAX;

  Kind kind;
  ReturnName name;
  uint32_t phase = kNoPhase;
  bool over = false;                ///< Return: nothing of the call can fire any more
  uint32_t returns = 0;             ///< where `over`: how many Returns the call has sent, this one included
  const Call* call = nullptr;       ///< Call: in the plan, which all workers share
  uint32_t caller_function = 0;     ///< in which the call stands
  uint32_t caller_site = 0;         ///< Return: of that function
  uint32_t function = 0;            ///< Call: that is to run, the callee or a copy of it
  uint64_t arrow = 0;               ///< its arrow in the trace, if there is one
  std::vector<SentValue> values{};  ///< Call: by argument; Return: results that the caller has slots for
};

/// The function of a Frame that stands for one which another worker has.
inline constexpr uint32_t kElsewhere = UINT32_MAX;

/// A call that another worker runs, as its caller sees it: stands in the caller's frame as that of the
/// callee.
struct RemoteCall : Frame {
  Frame* caller = nullptr;
  uint32_t caller_site = 0;
  uint32_t slot = 0;
  uint16_t generation = 0;
  uint16_t worker = 0;    ///< who runs it
  uint32_t callee = 0;    ///< the function that runs
  uint32_t received = 0;  ///< Returns
  uint32_t expected = 0;  ///< Returns that come in all; 0: not known yet
};

/// The caller of a call that is run here for another worker: stands as the parent of the callee's frame.
struct RemoteCaller : Frame {
  ReturnName name;
  uint32_t caller_function = 0;
  uint32_t returns = 0;  ///< sent
  Frame* callee = nullptr;
};

}  // namespace hiaton::exec::flow
