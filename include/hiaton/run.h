// Options, budgets, results and statistics of a run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/value.h"

#pragma GCC visibility push(default)
namespace hiaton {

class ThreadPool;
class Trace;
namespace net {
class Transport;
}

enum class Executor : uint8_t {
  Production,  ///< each function in direct code or in flow, whichever is faster for it
  Flow,        ///< frames whose items fire in any order, batches across tags
  Reference,   ///< the rules of the static tagged graph, literally
  Expanding,   ///< a call copies the callee's graph when it runs
};

/// When values are computed: docs/demand.md.
enum class Evaluation : uint8_t {
  DataDriven,    ///< as soon as what they are computed from has come
  DemandDriven,  ///< when they are asked for, at most once; results of the program ask for all that they hold
};

/// One token that was produced, as the reference executor sees it.
struct TokenEvent {
  graph::OutPort from;
  std::vector<uint64_t> tag;  ///< innermost first: call-site labels and iteration numbers
  Value value;                ///< without meaning where dead
  bool dead = false;
  /// Demand-driven: nothing has come yet, but `asked_by` asks for it; later there is an event with the value.
  bool is_demand = false;
  graph::NodeId asked_by{};
  /// Demand-driven: the value is of this variant of its data type, and its fields are still to be asked for.
  std::optional<uint32_t> suspended{};
};

struct RegionStats {
  std::string function;
  std::string name;  ///< where in the function: "entry", "line 3: then", ...
  uint64_t firings = 0;
  uint64_t launches = 0;  ///< how many batches these firings were; 0: it does not run in batches
};

struct RunStats {
  uint64_t calls = 0;  ///< calls of functions; of direct code only where RunOptions::count_regions is set
  uint64_t frames_allocated =
      0;  ///< frames ever carved from memory; a frame in use again does not count anew
  uint64_t frames_live_most = 0;    ///< upper bound of the frames alive at once
  uint64_t frames_live_at_end = 0;  ///< 0 unless the executor has a defect, also after errors
  uint64_t values_live_at_end = 0;  ///< data values and tensors of direct code that nobody can reach;
                                    ///< likewise, and only looked for where RunOptions::checks_counts is set
  uint64_t bytes = 0;               ///< memory that the run held at most, as RunOptions::max_bytes counts it
  uint64_t steals = 0;
  uint64_t atomic_operations = 0;                   ///< read-modify-writes and fences by the workers
  uint64_t remote_calls = 0;                        ///< calls that ran in another process than their caller
  std::vector<uint64_t> remote_calls_by_process{};  ///< how many of these each has run; empty: one process
  uint64_t remote_tokens = 0;  ///< tokens that went from one part of a split graph to another
  uint64_t remote_bytes = 0;   ///< bytes of the messages between the processes of the run
  double seconds = 0;
  double kernel_seconds = 0;  ///< all workers together, where RunOptions::time_kernels is set
  std::vector<RegionStats> regions;
  /// Why the production executor ran the graph by the reference rules instead; empty: it did not.
  std::string fallback;
};

/// The gradients of the parameters of a program, gathered over a run; by number of the parameter. Runs add to
/// them, so one Gradients serves a whole minibatch.
class Gradients {
 public:
  explicit Gradients(std::span<const graph::Parameter> parameters);

  struct Sum {
    Tensor values;                 ///< has the parameter's type
    bool dense = false;            ///< all rows may differ from zero
    std::vector<int64_t> rows;     ///< else: those that may, in the order of their first use
    std::vector<uint8_t> touched;  ///< by row
  };

  std::size_t size() const { return sums_.size(); }
  const Sum& operator[](std::size_t parameter) const { return sums_[parameter]; }
  /// The whole sum of the parameter, dense, to be added to.
  Tensor& dense(std::size_t parameter);
  /// Marks a row of the parameter, which must have it, as one that may differ from zero.
  void touch(std::size_t parameter, int64_t row);
  Tensor& values(std::size_t parameter) { return sums_[parameter].values; }
  /// Makes all sums zero again. The threads of `pool` share the work.
  void clear(ThreadPool* pool = nullptr);
  /// Marks nothing as what may differ from zero, and leaves the values as they are: for who then writes over
  /// all that it marks.
  void unmark();
  /// Adds another's sums, parameter by parameter, row by row. Throws ProgramError where these are of other
  /// parameters.
  void add(const Gradients& other, ThreadPool* pool = nullptr);

 private:
  std::vector<Sum> sums_;
};

/// Learned parameters whose rows another process holds. Workers ask at the same time.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Whether another process holds the tensor whose elements would stand there: nothing may read them here.
  virtual bool is_elsewhere(const std::byte* elements) const = 0;
  /// Writes the rows of these numbers, all of which the tensor has, one after the other.
  virtual void gather(const std::byte* elements, std::span<const int64_t> rows, std::byte* to) = 0;
};

struct RunOptions {
  Executor executor = Executor::Production;
  /// Demand-driven runs are those of the executors Production and Reference, with one worker whatever
  /// `workers` says, in one process, and without `gradients` and `trace`.
  Evaluation evaluation = Evaluation::DataDriven;
  int workers = 1;
  /// Whose threads are the workers; null: threads that the process keeps for runs, of which no other one uses
  /// them.
  ThreadPool* pool = nullptr;
  OverflowMode overflow = OverflowMode::Wrap;
  /// How many iterations of one loop may be under way at once.
  int parallel_iterations = 10;
  /// Budgets of all workers together. More of either ends the run with Fault::MaxFrames or Fault::MaxBytes.
  /// Bytes are those of frames and what waits in them, of tensors, data values and what kernels gather; not
  /// those of arguments made before it, parameters, and the gradients and packed copies of parameters.
  /// A run without a limit of its own may take seven eighths of what the machine has left.
  uint64_t max_frames = std::numeric_limits<uint64_t>::max();
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
  /// How long the run may take; after that it ends with Fault::Timeout, when no worker is inside of a kernel
  /// any more. A run that is over before anybody has looked at the clock has its results.
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();
  /// Count firings per region (RunStats::regions). Costs a little time.
  bool count_regions = false;
  /// Measure the time inside the kernels of tensor operations, with the additions to gradients
  /// (RunStats::kernel_seconds). Costs two looks at the clock for each of them.
  bool time_kernels = false;
  /// Set to true from any thread or signal handler to end the run with Fault::Interrupted, as soon as a
  /// timeout would.
  const std::atomic<bool>* cancel = nullptr;
  /// Filled at the end of the run, also when it ends with an error.
  RunStats* stats = nullptr;
  /// The values of the program's parameters, by number. What a run makes of a tensor is kept for the next run
  /// with the same one: to change a parameter, make a new tensor.
  std::span<const Value> parameters{};
  /// Production and Flow: who has the rows of parameters whose elements are elsewhere, of which only rows are
  /// read. Null: all are here.
  RowSource* rows = nullptr;
  /// Whether the run looks through data values among its arguments, all the way down, for parts that do not
  /// fit the types of the program, and refuses these. Whoever made the values of these very types may do
  /// without: what the run does with a value that does not fit is undefined then.
  bool checks_data = true;
  /// Where Accumulate nodes add to; null: nowhere. Only one run at a time may use these gradients. After a
  /// run that ended with an error they hold a part of its sums: clear() them. Where several processes share
  /// the run (`processes`), each gets the sums of what it has computed itself: those of all together are the
  /// gradients.
  Gradients* gradients = nullptr;
  /// Called with each parameter whose sum in `gradients` is complete while the run goes on, as far as the
  /// executor knows; all others are when the run is over. By the thread of the run, which has one worker
  /// then.
  std::function<void(std::size_t parameter)> on_gradient{};
  /// Takes the lines that the program prints, each without its line break; empty: standard output. Workers
  /// call it at the same time. What it throws ends the run, which throws it.
  std::function<void(std::string_view)> print{};
  /// Whether the same operations under many tags run as one kernel.
  bool batching = true;
  /// Runs of many argument lists: into how many parts they are cut, each of which is batched by itself; 0:
  /// one for each worker. The same number gives the same bits for any number of workers.
  int parts = 0;
  /// For tests: each call that can be given to another worker is: by Flow also where none is idle, by direct
  /// code whenever one is. There, values of lists get other cells whatever their distance and the memory.
  bool share_every_call = false;
  /// For tests: RunStats::values_live_at_end is, of all processes, how many data values and tensors of direct
  /// code are left over; where the run ends by an error, how many have a count that neither other values nor
  /// the frames explain.
  bool checks_counts = false;
  /// Production and Flow: where the run is drawn; null: nowhere.
  Trace* trace = nullptr;
  /// The processes that share the run; null: this one alone. All of them run the same program with the same
  /// arguments and options, and give each other calls of direct code. Process 0 gets the results, the
  /// statistics of all, and the error; the others give no values. Budgets are those of each process.
  /// Where a program places something, what is placed runs there, and no other calls are given away.
  net::Transport* processes = nullptr;
  /// Which processes the names of places are. `process:K` is process K modulo their number; others go round
  /// robin. Several processes for one name have copies of its functions, which calls are balanced over.
  std::map<std::string, std::vector<int>> places{};
  /// Learned parameters without a place of their own are placed, the largest first, where `max_bytes` does
  /// not hold them all.
  bool place_parameters = false;
  /// How many groups of consecutive processes, all as large, each run the whole program where it places
  /// something; 0: one. In a run of many argument lists the first process of each group gives those that its
  /// group computes. In training each group computes a share of each batch; 0: one group where something is
  /// placed, else as many as there are processes.
  int replicas = 0;
  /// Reference executor only: called for every token, and for every demand.
  std::function<void(const TokenEvent&)> on_token{};
};

struct RunResult {
  std::vector<Value> values;
  RunStats stats;
};

/// What a run of a program for many argument lists reads and writes, list by list: an argument list is made
/// when the run comes to it, and is gone with its results. Workers make and take different ones at the same
/// time. What the functions throw ends the run.
class Examples {
 public:
  virtual ~Examples() = default;
  virtual std::size_t size() const = 0;
  /// The arguments of the list `index`, by parameter; asked for once.
  virtual std::vector<Value> arguments(std::size_t index) = 0;
  /// The same arguments for a caller that only reads them, valid as long as the examples and `storage` stay
  /// as they are. Examples that are in memory already override this, so that they are not copied.
  virtual std::span<const Value> view_arguments(std::size_t index, std::vector<Value>& storage) {
    return storage = arguments(index);
  }
  /// Takes the results of the list `index`, once they are complete.
  virtual void take_results(std::size_t index, std::vector<Value> results) = 0;
};

/// First values of a program's parameters, as their initializers say; the same for a seed on every machine.
std::vector<Value> initial_parameters(std::span<const graph::Parameter> parameters, uint64_t seed);

}  // namespace hiaton
#pragma GCC visibility pop
