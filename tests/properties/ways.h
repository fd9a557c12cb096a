// The ways to run a program, all of which must agree.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/plan_cache.h"
#include "hiaton/run.h"
#include "properties/generate.h"

namespace hiaton::properties {

/// How a run ended.
struct Outcome {
  Fault fault = Fault::None;
  std::vector<Value> values;
  std::string message;  ///< what a fault says, or an error that is ours
  bool is_defect = false;
  RunStats stats{};

  bool is_budget() const { return fault == Fault::Timeout || fault == Fault::MaxFrames; }
};

std::string to_string(const Outcome& outcome);

/// What is done to a module before it is lowered.
struct Version {
  std::string name;
  std::function<ir::Module(const ir::Module&, OverflowMode)> prepare;
};

struct Way {
  std::string name;
  const Version* version;
  RunOptions options;
  uint64_t every = 1;  ///< it is run for each n-th program: some ways are slow to start
  int processes = 1;
};

/// The first is what the others are compared with: the reference executor on the unchanged module.
const std::vector<Way>& ways();

/// Runs one program in several ways; versions that several ways share are made once.
class Runner {
 public:
  Runner(const Program& program, OverflowMode overflow,
         std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max())
      : program_(program), overflow_(overflow), timeout_(timeout) {}

  /// Never throws. Tokens or frames that are left over are a defect.
  Outcome run(const Way& way);

 private:
  struct Lowered {
    explicit Lowered(graph::Graph made) : graph(std::move(made)) {}
    const graph::Graph graph;
    exec::PlanCache plans;
  };
  Lowered& lowered(const Version& version);

  const Program& program_;
  OverflowMode overflow_;
  std::chrono::nanoseconds timeout_;
  std::map<const Version*, std::unique_ptr<Lowered>> lowered_;
};

/// Whether one outcome may stand for the other: same values (NaN is NaN), or a fault in both; of the same
/// kind where the program can run into one kind only.
bool agree(const Outcome& a, const Outcome& b, bool one_kind_of_fault);

}  // namespace hiaton::properties
