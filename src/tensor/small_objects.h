// Memory of small objects, which each thread keeps for the next ones of the same size: examples and results
// are trees of hundreds of data values, made and let go of in every step.
#pragma once

#include <cstddef>

namespace hiaton {

/// As malloc; throws std::bad_alloc. Aligned as for any type.
void* allocate_object(std::size_t bytes);
/// `bytes` as they were asked for. On any thread.
void free_object(void* memory, std::size_t bytes) noexcept;

/// The same, and the meter of the thread counts it. Throws OverBudget as well.
void* allocate_counted(std::size_t bytes);
void free_counted(void* memory, std::size_t bytes) noexcept;

/// What a thread keeps at most. It goes back to the C library when the thread ends.
inline constexpr std::size_t kMostBytesKept = std::size_t{1} << 20;
/// What the calling thread keeps, in bytes.
std::size_t bytes_kept() noexcept;
/// Gives it back now.
void free_kept_objects() noexcept;

}  // namespace hiaton
