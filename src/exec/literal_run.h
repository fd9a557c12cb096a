// Runs the part that one process has of a split graph, by the rules of the reference executor, together with
// the other processes.
//
// The same as exec/partitioned.h, over the transport of a run instead of a simulated network: what the
// production executor does with placed programs that its calls between processes cannot express, as those
// with gradients. Besides tokens, which carry their whole tag, there are
//
//   Wave, Report   process 0 finds out that nobody has anything left to do (net/ending.h)
//   Fault          to process 0: this process has failed
//   End            from process 0: all is done, or a process has failed
//   Done           to process 0: this process has ended the run, and sends nothing more; its statistics
//
// Each message holds the number of the run; those of a run that is over are dropped.
#pragma once

#include <span>

#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "partition/partition.h"

namespace hiaton::exec {

/// `graph` is the one that was split. All processes call it with the same graph, parts, arguments and
/// options, but for `processes` and `stats`. Process 0 gets the results, and throws RunError; budgets are
/// those of each process. Tokens are not told to RunOptions::on_token. Throws ProgramError where the run adds
/// to gradients.
RunResult run_literal(const graph::Graph& graph, const partition::Partition& parts,
                      std::span<const Value> arguments, const RunOptions& options);

}  // namespace hiaton::exec
