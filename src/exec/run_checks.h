// What is checked before a run, and what the system may refuse while it begins.
#pragma once

#include <exception>
#include <span>

#include "hiaton/error.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "hiaton/value.h"
#include "tensor/dimensions.h"

namespace hiaton::exec {

/// Checks the arguments of a program one by one, in any order.
class ArgumentChecks {
 public:
  /// `checks_data`: as RunOptions has it. The graph must live as long.
  ArgumentChecks(const graph::Graph& graph, bool checks_data) : graph_(graph), checks_data_(checks_data) {}
  /// Throws ProgramError where the argument is of another type than the parameter of this number, or its
  /// sizes are none that go with those of the arguments before.
  void require(std::size_t number, const Value& argument);

 private:
  const graph::Graph& graph_;
  const bool checks_data_;
  Dimensions dimensions_;
};

/// Throws ProgramError where the graph is the part of one process.
void require_whole(const graph::Graph& graph);
/// Throws ProgramError where an option, or the value of a learned parameter, is wrong.
void require_options(const graph::Graph& graph, const RunOptions& options);
/// Throws ProgramError where number or types of the arguments, or an option, are wrong.
void require_runnable(const graph::Graph& graph, std::span<const Value> arguments, const RunOptions& options);

/// Throws RunError where the exception says that the system has no memory or no thread left.
void throw_error_of_the_system(const std::exception& error, const RunOptions& options);

/// Does the work of a run; where the system has no memory or no thread left, throws the RunError that says
/// so. One handler takes every std::exception: where an error passes by handlers of other types, clang's
/// thread sanitizer does not see that the function ends, and its stacks would grow with each error.
inline auto with_errors_of_the_system(const RunOptions& options, const auto& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    throw_error_of_the_system(error, options);
    throw;
  }
}

}  // namespace hiaton::exec
