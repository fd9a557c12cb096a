// A timeline of runs, in the trace format that Perfetto (ui.perfetto.dev) and chrome://tracing read.
//
//   Trace trace;
//   program.run({Value(int64_t{30})}, {.workers = 2, .trace = &trace});
//   std::ofstream("trace.json") << trace.to_json();
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hiaton/value.h"

#pragma GCC visibility push(default)
namespace hiaton {

/// Slices (what runs from when to when), arrows between them (steals) and counters (live frames and bytes),
/// by track: one for each worker of a run. Runs add to it one after the other; never two at once.
class Trace {
 public:
  struct Options {
    /// Slices, arrows and samples that one track keeps: the first ones; what comes later is only counted.
    std::size_t most_events = 200'000;
    /// Calls of scalar programs that are nested deeper than this in their stretch of work are counted, not
    /// drawn.
    int call_depth = 10;
    /// The number of the process where several make one file: arrows lead from one to another.
    int process = 0;
  };
  struct Field {
    std::string name;
    DType type = DType::I64;
    std::string text{};  ///< stands for a value that is no scalar, as "Tree"

    friend auto operator<=>(const Field&, const Field&) = default;
  };
  /// What slices of one kind are called, and what each of them tells, at most kMostFields.
  struct Kind {
    std::string name;
    std::string category;
    std::vector<Field> fields{};
    std::size_t shown = 0;  ///< so many of the last fields stand in the name: fib(30)

    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  using KindId = uint32_t;
  static constexpr std::size_t kMostFields = 5;

  /// What one thread at a time writes. Slices nest: the one that began last ends first.
  class Track {
   public:
    /// A slice begins now. Its fields, all zero, to be filled in before the next call.
    Slot* begin(KindId kind);
    /// The innermost open slice ends now. Its fields, as above.
    Slot* end();
    bool has_open() const { return !open_.empty() || open_not_kept_ > 0; }
    void end_all();
    /// An arrow leaves, or reaches, the innermost open slice.
    void start_arrow(uint64_t arrow) { add_arrow(arrow, true); }
    void finish_arrow(uint64_t arrow) { add_arrow(arrow, false); }
    /// What the track's worker holds now. Kept only where it changed.
    void count(uint64_t frames, uint64_t bytes);

   private:
    friend class Trace;
    struct Slice {
      int64_t begin;
      int64_t end;  ///< -1: it is open
      KindId kind;
      Slot fields[kMostFields];
    };
    struct Arrow {
      int64_t time;
      uint64_t number;
      bool starts;
    };
    struct Sample {
      int64_t time;
      uint64_t frames;
      uint64_t bytes;
    };

    Track(const Trace& trace, std::string name) : trace_(trace), name_(std::move(name)) {}
    void add_arrow(uint64_t arrow, bool starts);
    bool has_room();
    bool keep(const auto& add);

    const Trace& trace_;
    std::string name_;
    std::deque<Slice> slices_;
    std::vector<Slice*> open_;
    std::size_t open_not_kept_ = 0;  ///< inside of those
    Slice not_kept_{};
    std::vector<Arrow> arrows_;
    std::vector<Sample> samples_;
    uint64_t dropped_ = 0;
  };

  Trace() : Trace(Options()) {}
  explicit Trace(Options options)
      : options_(options), start_(Clock::now()), arrows_(arrow_of(options.process, 0)) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  const Options& options() const { return options_; }
  /// The track of this name; made where there is none yet. From any thread, as are the next three.
  Track& track(const std::string& name);
  /// That of a worker of the runs, from 0.
  Track& worker(std::size_t number) { return track("worker " + std::to_string(number)); }
  KindId kind(const Kind& kind);
  uint64_t new_arrow() { return arrows_.fetch_add(1, std::memory_order_relaxed); }
  /// An arrow that new_arrow() of a process gives, by the number that it ends with.
  static constexpr uint64_t arrow_of(int process, uint32_t number) {
    return static_cast<uint64_t>(process) << 32 | number;
  }

  /// What was not kept.
  uint64_t dropped() const;
  /// The file. Not during a run.
  std::string to_json() const;

  /// One of the processes of a file.
  struct Process {
    int number = 0;
    std::string name = "hiaton";
    int64_t delay = 0;  ///< nanoseconds from the begin of the file to that of this trace
  };
  /// The events of this trace in a file of several: a list without brackets.
  std::string events(const Process& process) const;
  /// The file of the lists of several processes. `dropped` counts what none of them has kept.
  static std::string file_of(const std::vector<std::string>& events, uint64_t dropped);
  /// When it began, as nanoseconds of the steady clock of this machine.
  int64_t begin() const { return std::chrono::nanoseconds(start_.time_since_epoch()).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  int64_t now() const { return std::chrono::nanoseconds(Clock::now() - start_).count(); }
  void write_slices(const Track& track, std::size_t thread, const Process& process, std::string& json) const;
  static std::string name_of(const Kind& kind, const Slot* fields);
  static void write_arrows(const Track& track, std::size_t thread, const Process& process, std::string& json);
  void write_counters(const Process& process, std::string& json) const;

  const Options options_;
  const Clock::time_point start_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Track>> tracks_;
  std::vector<Kind> kinds_;
  std::map<Kind, KindId> kind_of_;
  std::atomic<uint64_t> arrows_;
};

}  // namespace hiaton
#pragma GCC visibility pop
