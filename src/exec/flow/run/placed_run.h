// Runs of programs whose calls several processes run, by frames that gather to batches: because functions are
// placed on them, or because they have nothing else to do.
#pragma once

#include <memory>
#include <span>

#include "exec/flow/flow_plan.h"
#include "exec/flow/run/flow_run.h"
#include "exec/flow/run/process_calls.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// Runs the program over the processes of the options, all of which call it, for the examples of process 0,
/// or, with replicas, for those of the first process of each.
/// `plan` has homes of functions; `arguments`: of a program that runs once, in all processes, for messages.
/// Results go to who has the examples, the statistics of all to process 0, which throws the RunError. Each
/// process adds to the gradients of its options what it has computed itself.
void run_placed_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
                     const flow::CallCodecs& codecs, flow::Workers& resting, Examples& examples,
                     std::span<const Value> arguments, const RunOptions& options);

/// The same for a plan without homes: each process runs calls that others give it when it has nothing to do.
/// `codecs` are those of calls that are shared. The options have no gradients.
void run_shared_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
                     const flow::CallCodecs& codecs, flow::Workers& resting, Examples& examples,
                     std::span<const Value> arguments, const RunOptions& options);

}  // namespace hiaton::exec
