// What is checked before a run, and what the system may refuse while it begins.
#pragma once

#include <fmt/format.h>

#include <new>
#include <span>
#include <system_error>

#include "hiaton/error.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "hiaton/value.h"
#include "tensor/memory.h"

namespace hiaton::exec {

/// Throws ProgramError where number or types of the arguments, or an option, are wrong.
void require_runnable(const graph::Graph& graph, std::span<const Value> arguments, const RunOptions& options);

/// Where the system has no memory or no thread left.
inline auto with_errors_of_the_system(const RunOptions& options, const auto& work) {
  try {
    return work();
  } catch (const OverBudget&) {
    throw RunError(Fault::MaxBytes,
                   "byte budget: the first values of the run take more; --max-bytes raises the budget");
  } catch (const std::bad_alloc&) {
    throw RunError(Fault::OutOfMemory,
                   "out of memory: there is none left for another frame; --max-bytes ends a run before "
                   "memory does");
  } catch (const std::system_error& error) {
    throw RunError(Fault::OutOfMemory,
                   fmt::format("out of memory or threads: cannot start a thread for each of {} workers: {}",
                               options.workers, error.code().message()));
  }
}

}  // namespace hiaton::exec
