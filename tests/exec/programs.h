// Programs for the tests of the executors: text, arguments, and what must come out, run by every executor.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "exec/run_graph.h"
#include "hiaton/lang.h"
#include "hiaton/passes.h"
#include "sized.h"

namespace hiaton::exec::testing {

/// An executor with its number of workers.
struct Mode {
  Executor executor;
  int workers = 1;

  friend std::ostream& operator<<(std::ostream& out, const Mode& mode) {
    const char* names[] = {"production", "flow", "reference", "expanding"};
    return out << names[static_cast<int>(mode.executor)] << "_" << mode.workers;
  }
};

/// Every way to run a program in which this build can find something.
inline std::vector<Mode> all_modes() {
  std::vector<Mode> modes{
      {Executor::Reference},     {Executor::Expanding},     {Executor::Production, 1},
      {Executor::Production, 2}, {Executor::Production, 8},
  };
  std::erase_if(modes, [](const Mode& mode) { return !has_to_run(mode.workers); });
  return modes;
}

inline graph::Graph graph_of(std::string_view text) {
  return passes::lower(lang::parse(std::make_shared<Source>("main.hia", std::string(text))));
}

inline RunResult run(const Mode& mode, const graph::Graph& graph, const std::vector<Value>& arguments,
                     RunOptions options = {}) {
  options.executor = mode.executor;
  options.workers = mode.workers;
  return exec::run(graph, arguments, options);
}

inline std::vector<Value> run(const Mode& mode, std::string_view text, const std::vector<Value>& arguments,
                              const RunOptions& options = {}) {
  return run(mode, graph_of(text), arguments, options).values;
}

/// A program and what comes out of it: values, or an error.
struct ProgramCase {
  std::string name;
  std::string text;
  std::vector<Value> arguments;
  std::vector<Value> expected;
  Fault fault = Fault::None;

  friend std::ostream& operator<<(std::ostream& out, const ProgramCase& program) {
    return out << program.name;
  }
};

/// The table of programs; every executor must agree with it.
const std::vector<ProgramCase>& programs();

}  // namespace hiaton::exec::testing
