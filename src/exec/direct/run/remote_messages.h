// Errors and statistics of a run as bytes.
#pragma once

#include "hiaton/error.h"
#include "hiaton/run.h"
#include "net/bytes.h"

namespace hiaton::exec::direct {

void write_error(const RunError& error, net::ByteWriter& out);
/// Throws ProgramError where the bytes are no error.
RunError read_error(net::ByteReader& in);

/// What the processes of a run add up.
void write_stats(const RunStats& stats, net::ByteWriter& out);
/// `stats` has the regions of the plan.
void read_stats(RunStats& stats, net::ByteReader& in);
/// Adds those of one process to those of others.
void add_stats(const RunStats& one, RunStats& sum);

}  // namespace hiaton::exec::direct
