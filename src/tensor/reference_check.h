// Whether the counts of a run's values agree with what refers to them, where a run ends by an error.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tensor/data_heap.h"
#include "tensor/tensor_heap.h"

namespace hiaton {

/// Calls its argument with each stretch of slots in which a run may have kept references when it ended.
using VisitSlots = std::function<void(const std::function<void(std::span<const Slot>)>&)>;

/// How many values of the run have a count that nothing explains, or are referred to after they were freed.
///
/// What a value refers to is known exactly: each of its fields explains one reference. A slot may hold a
/// reference of its own, several that are about to be passed to a call, a borrowed one, a number, or what an
/// earlier call has left in it; so it explains as many references as are left to explain. Hence a reference
/// that was let go of twice is found where another value still holds it, and one that was never let go of
/// where no slot of a frame that was live holds it any more.
///
/// No thread may run any more, and either heap may be null. The counts are of no use afterwards: the values
/// have to be forgotten. Throws std::bad_alloc.
uint64_t count_unexplained(DataHeap* data, TensorHeap* tensors, const VisitSlots& slots);

}  // namespace hiaton
