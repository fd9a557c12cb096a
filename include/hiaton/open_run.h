// Runs whose arguments come, and whose results leave, while they go on.
//
//   OpenRun run = program.open({x});    // fn main(x: f64, g: f64) -> (f64, f64) = value_and_vjp(f)(x, g)
//   Value y = run.wait(0);              // f(x)
//   run.feed(1, weight_of(y));
//   Value slope = run.wait(1);          // nothing of f has been computed twice
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "hiaton/phase.h"
#include "hiaton/run.h"
#include "hiaton/value.h"

#pragma GCC visibility push(default)
namespace hiaton {

namespace exec {
struct OpenProgram;
}

/// A run of a program that takes its arguments one by one, and gives a result as soon as those are there that
/// it waits for. In between it keeps what it has computed. A program can be open any number of times at once.
///
/// The work is done by wait() and finish(), in their thread and in those of the workers: all that can be done
/// with what has been fed. Several threads may use one open run; what feed() brings while another thread
/// waits is taken in the same wait.
///
/// What the options point to (`pool`, `cancel`, `stats`, `gradients`, `rows`, `trace`) must live until the
/// run is over: until finish(), cancel(), an error, or its end as an object. `stats` are filled then, and
/// `gradients` are complete after finish(). The time of `timeout` is that of the work alone, and a trace has
/// a slice of it for each wait that had something to do.
///
/// One that was moved from is refused by a ProgramError.
class OpenRun {
 public:
  OpenRun(OpenRun&&) noexcept;
  OpenRun& operator=(OpenRun&&) noexcept;
  /// Ends the run as cancel() does.
  ~OpenRun();

  /// Which parameters and results belong together: a result can be had once the parameters of its phase, and
  /// of all phases before, have been fed. The last phase may have no results.
  const std::vector<Phase>& phases() const;
  /// How many parameters the program has.
  std::size_t parameter_count() const;
  /// Gives the argument for a parameter, by number, in any order. Throws ProgramError where it has one
  /// already, where the argument is of another type, or where the run is over.
  void feed(std::size_t parameter, Value argument);
  /// The result of this number, as often as asked for. Throws ProgramError where parameters that it waits for
  /// have not been fed, or where the run was cancelled, RunError where the run has ended without it; the same
  /// one each time then. `cancel`: as RunOptions::cancel, for this wait instead of that.
  Value wait(std::size_t result, const std::atomic<bool>* cancel = nullptr);
  /// Does what is left, and ends the run. Throws as wait() does, also where parameters have not been fed.
  RunStats finish();
  /// Ends the run, at any time and from any thread, and lets go of all that it holds but for results that
  /// have come. A wait of another thread ends with Fault::Interrupted, unless it has a flag of its own, or of
  /// the options, to end it: then this waits for it.
  void cancel();

 private:
  friend class Program;
  class Impl;
  OpenRun(std::shared_ptr<const exec::OpenProgram> program, RunOptions options);
  Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace hiaton
#pragma GCC visibility pop
