// What happens to a module between the program's text and its execution.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hiaton/graph.h"
#include "hiaton/ir.h"
#include "hiaton/op.h"

#pragma GCC visibility push(default)
namespace hiaton::passes {

/// Which simplifications to make. Each keeps every result and every fault of a program, and each can be
/// switched off.
struct SimplifyOptions {
  bool fold = true;           ///< fold_constants
  bool flatten_logic = true;  ///< flatten_logic
  bool cse = true;            ///< merge_common
  bool dce = true;            ///< drop_dead
  bool inline_small = true;   ///< inline_small_functions
  /// What the run will use. Under Trap an operation that overflows stays, so that the run fails where the
  /// program says.
  OverflowMode overflow = OverflowMode::Wrap;

  static SimplifyOptions none(OverflowMode overflow = OverflowMode::Wrap) {
    return {.fold = false,
            .flatten_logic = false,
            .cse = false,
            .dce = false,
            .inline_small = false,
            .overflow = overflow};
  }
};

/// The simplifications that `options` ask for, in a good order. The module's entry keeps its signature;
/// functions that it does not reach are dropped (with dce). Takes time linear in the size of the module.
ir::Module simplify(ir::Module module, const SimplifyOptions& options = {});

// The single simplifications; docs/passes.md shows each with a program before and after.

/// Operations on constants, branches on constants or on the condition of a branch around them, and identities
/// such as `x + 0` where they are exact for every x. An operation that would fail stays.
ir::Module fold_constants(ir::Module module, OverflowMode overflow);
/// `if a then b else false` and `if a then true else b` become one `and` / `or` without a branch, where b is
/// small and can neither fail nor run on forever.
ir::Module flatten_logic(ir::Module module, OverflowMode overflow);
/// An operation that was done before on the same operands, in the same block or in one around it, is not done
/// again; nor is a call of a function that can neither fail nor run on forever.
ir::Module merge_common(ir::Module module, OverflowMode overflow);
/// What no result needs goes, unless it may fail or run on forever; so do results of branches and variables
/// of loops that nobody reads, and functions that the entry does not reach.
ir::Module drop_dead(ir::Module module, OverflowMode overflow);
/// Calls of small functions that do not call themselves become their bodies. Functions and calls with a
/// placement stay.
ir::Module inline_small_functions(ir::Module module);

/// Loops become calls of functions that call themselves: the form that gradients work on.
ir::Module loops_to_calls(ir::Module module);
/// Makes loops such calls only in the functions that a gradient reaches: one that the module asks for, or
/// that of the function `trained`.
ir::Module loops_to_calls_for_gradients(ir::Module module,
                                        std::optional<ir::FunctionId> trained = std::nullopt);

/// What of a function that calls itself depends on none of the accumulators that it passes on is done for all
/// iterations at once, where it multiplies matrices; the rest follows in the order of the iterations. So the
/// rest must not fail: what may overflow under the mode that the run will use stays.
ir::Module split_loops(ir::Module module, OverflowMode overflow);

/// Makes the entry a new function with the parameters and results of the entry that also gathers the
/// gradients of the module's parameters for the first result. The module must be free of loops. Throws
/// ProgramError where it has no entry, or the first result is no float scalar.
ir::Module add_training_step(ir::Module module);
/// Makes the entry a new function. It takes what the entry takes, and a gradient for each of its float
/// results; it gives the results of the entry, then what becomes of the gradients for the parameters with the
/// numbers `wrt`, and also gathers the gradients of the module's parameters. The module must have an entry
/// and be free of loops. Throws ProgramError where it has no results that are floats, or results that hold
/// some in data.
ir::Module add_vjp_step(ir::Module module, const std::vector<std::size_t>& wrt);

/// Gives `request.function` its body, which computes the gradients that the request asks for. `of` and what
/// it calls must be free of loops.
ir::Module add_gradient(ir::Module module, const ir::GradientRequest& request);
/// Calls add_gradient() for all gradients that the module asks for; those of gradients come last.
ir::Module add_gradients(ir::Module module);

/// A program whose data-driven evaluation is the demand-driven one of another: what is not computed at once
/// is a data value, a suspension, until it is asked for. For direct code alone.
struct OnDemand {
  std::optional<ir::Module> module;
  std::string reason;  ///< why there is none
};
/// Takes a module without suspensions, whose gradients are derived or none are asked for. Data types that
/// hold suspensions are new ones; the entry takes and gives values of the old ones. Throws ProgramError where
/// it has no entry and no `main`.
OnDemand suspend(ir::Module module, OverflowMode overflow);

/// The one static tagged graph of the program that starts at the module's entry. Functions that it does not
/// reach are left out. Expects a module that ir::verify accepts. Throws ProgramError where it has no entry
/// and no `main`.
graph::Graph lower(const ir::Module& module);

}  // namespace hiaton::passes
#pragma GCC visibility pop
