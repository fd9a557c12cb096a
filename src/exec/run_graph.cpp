#include "exec/run_graph.h"

#include <fmt/format.h>

#include <new>
#include <system_error>

#include "exec/fault.h"
#include "exec/on_demand.h"
#include "exec/production.h"
#include "exec/reference.h"
#include "exec/run_checks.h"
#include "tensor/dimensions.h"
#include "tensor/memory.h"
#include "tensor/shown.h"

namespace hiaton::exec {
namespace {

void require_arguments(const graph::Graph& graph, std::span<const Value> arguments, bool checks_data) {
  const std::string program = written_name(graph[find_program(graph)]);
  const std::size_t expected = graph.inputs().size();
  if (arguments.size() != expected) {
    throw ProgramError(fmt::format("expected {} argument{} for {}, found {}", expected,
                                   expected == 1 ? "" : "s", program, arguments.size()));
  }
  ArgumentChecks checks(graph, checks_data);
  for (std::size_t i = 0; i < expected; ++i) checks.require(i, arguments[i]);
}

/// Each argument list as the program takes it, or an error.
class CheckedExamples : public Examples {
 public:
  CheckedExamples(const graph::Graph& graph, Examples& examples, bool checks_data)
      : graph_(graph), examples_(examples), checks_data_(checks_data) {}

  std::size_t size() const override { return examples_.size(); }
  std::vector<Value> arguments(std::size_t index) override {
    std::vector<Value> arguments = examples_.arguments(index);
    require_arguments(graph_, arguments, checks_data_);
    return arguments;
  }
  std::span<const Value> view_arguments(std::size_t index, std::vector<Value>& storage) override {
    const std::span<const Value> arguments = examples_.view_arguments(index, storage);
    require_arguments(graph_, arguments, checks_data_);
    return arguments;
  }
  void take_results(std::size_t index, std::vector<Value> results) override {
    examples_.take_results(index, std::move(results));
  }

 private:
  const graph::Graph& graph_;
  Examples& examples_;
  const bool checks_data_;
};

void require_options_on_demand(const RunOptions& options) {
  const auto require = [](bool holds, std::string_view expected) {
    if (!holds) throw ProgramError(fmt::format("demand-driven evaluation: expected {}", expected));
  };
  const bool is_known = options.executor == Executor::Production || options.executor == Executor::Reference;
  require(is_known, "the executor production or reference, found another one");
  require(options.processes == nullptr, "one process, found several");
  require(options.rows == nullptr, "parameters that are all here, found some that another process holds");
  require(options.gradients == nullptr, "a run without gradients of learned parameters, found one with them");
  require(options.trace == nullptr, "a run that is not traced, found one that is");
}

void require_settings(const RunOptions& options) {
  if (options.workers < 1) {
    throw ProgramError(fmt::format("expected at least 1 worker, found {}", options.workers));
  }
  if (options.parallel_iterations < 1) {
    throw ProgramError(
        fmt::format("expected at least 1 parallel iteration, found {}", options.parallel_iterations));
  }
  if (options.parts < 0 || options.replicas < 0) {
    throw ProgramError(fmt::format("expected parts and replicas of 0 or more, found {} and {}", options.parts,
                                   options.replicas));
  }
  if (options.timeout < std::chrono::nanoseconds(0))
    throw ProgramError("expected a timeout of 0 or more, found a negative one");
  const bool knows_processes = options.executor == Executor::Production || options.executor == Executor::Flow;
  if (options.processes != nullptr && !knows_processes)
    throw ProgramError("expected the executor production or flow with several processes, found another one");
  if (options.rows != nullptr && !knows_processes) {
    throw ProgramError(
        "expected the executor production or flow, where another process holds parameters, found another "
        "one");
  }
  if (options.evaluation == Evaluation::DemandDriven) require_options_on_demand(options);
}

void require_parameters(const graph::Graph& graph, const RunOptions& options) {
  if (options.parameters.size() != graph.parameters().size()) {
    throw ProgramError(fmt::format("expected the values of {} parameters of the program, found {}",
                                   graph.parameters().size(), options.parameters.size()));
  }
  for (std::size_t i = 0; i < options.parameters.size(); ++i) {
    const graph::Parameter& parameter = graph.parameters()[i];
    if (fits(options.parameters[i], parameter.type)) continue;
    throw ProgramError(fmt::format("expected parameter '{}' to be of type {}, found {}", parameter.name,
                                   to_string(parameter.type), to_string(options.parameters[i].type())));
  }
}

void require_gradients(const graph::Graph& graph, const RunOptions& options) {
  if (options.gradients == nullptr) return;
  const Gradients& gradients = *options.gradients;
  if (gradients.size() != graph.parameters().size()) {
    throw ProgramError(
        fmt::format("expected gradients of the {} parameters of the program, found those of {}",
                    graph.parameters().size(), gradients.size()));
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const graph::Parameter& parameter = graph.parameters()[i];
    const Type found = gradients[i].values.type();
    if (found == parameter.type) continue;
    throw ProgramError(fmt::format("expected the gradient of parameter '{}' to be of type {}, found {}",
                                   parameter.name, to_string(parameter.type), to_string(found)));
  }
}

RunResult run_with_executor(const graph::Graph& graph, std::span<const Value> arguments,
                            const RunOptions& options, PlanCache& plans) {
  if (options.evaluation == Evaluation::DemandDriven)
    return run_on_demand(graph, "it is demand-driven, and suspensions are made before there is a graph",
                         arguments, options);
  switch (options.executor) {
    case Executor::Production:
      return run_production(graph, arguments, options, plans);
    case Executor::Flow:
      return run_as_example(graph, arguments, options, plans);
    case Executor::Reference:
      return run_reference(graph, arguments, options);
    case Executor::Expanding:
      return run_expanding(graph, arguments, options);
  }
  throw ProgramError("unknown executor");
}

}  // namespace

void ArgumentChecks::require(std::size_t number, const Value& argument) {
  const graph::Node& input = graph_[graph_.inputs()[number]];
  const Type wanted = dimensions_.with_known(input.type);
  const bool same_sizes = argument.is_data() || dimensions_.bind(input.type, argument.type());
  const bool is_known = !checks_data_ && argument.is_data() && input.type.is_data();
  if (is_known) return;
  const std::optional<std::string> found = misfit(argument, input.type);
  if (same_sizes && !found) return;
  const std::string name = input.name.empty() ? std::to_string(number) : fmt::format("'{}'", input.name);
  std::string expected_type = to_string(wanted);
  if (wanted != input.type)
    expected_type += fmt::format(" ({}, sizes as in the arguments before)", to_string(input.type));
  throw ProgramError(fmt::format("expected argument {} of {} to be of type {}, found {}", name,
                                 written_name(graph_[find_program(graph_)]), expected_type,
                                 found.value_or(to_string(argument.type()))));
}

void require_whole(const graph::Graph& graph) {
  if (graph.is_part()) throw ProgramError("expected a whole graph to run, found the part of one process");
}

void require_runnable(const graph::Graph& graph, std::span<const Value> arguments,
                      const RunOptions& options) {
  require_arguments(graph, arguments, options.checks_data);
  require_options(graph, options);
}

void throw_error_of_the_system(const std::exception& error, const RunOptions& options) {
  if (dynamic_cast<const OverBudget*>(&error) != nullptr) {
    throw RunError(Fault::MaxBytes,
                   "byte budget: the first values of the run take more; --max-bytes (in C++ and Python "
                   "max_bytes) raises the budget");
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    throw RunError(Fault::OutOfMemory,
                   "out of memory: there is none left for another frame; --max-bytes (in C++ and Python "
                   "max_bytes) ends a run before memory does");
  }
  if (const auto* refused = dynamic_cast<const std::system_error*>(&error)) {
    throw RunError(Fault::OutOfMemory,
                   fmt::format("out of memory or threads: cannot start a thread for each of {} workers: {}",
                               options.workers, refused->code().message()));
  }
}

void require_options(const graph::Graph& graph, const RunOptions& options) {
  require_settings(options);
  require_parameters(graph, options);
  require_gradients(graph, options);
}

RunResult run(const graph::Graph& graph, std::span<const Value> arguments, const RunOptions& options) {
  PlanCache plans;
  return run(graph, arguments, options, plans);
}

RunResult run(const graph::Graph& graph, std::span<const Value> arguments, const RunOptions& options,
              PlanCache& plans) {
  require_whole(graph);
  require_runnable(graph, arguments, options);
  return with_errors_of_the_system(options,
                                   [&] { return run_with_executor(graph, arguments, options, plans); });
}

void run_all(const graph::Graph& graph, Examples& examples, const RunOptions& options, PlanCache& plans) {
  require_whole(graph);
  require_options(graph, options);
  CheckedExamples checked(graph, examples, options.checks_data);
  with_errors_of_the_system(options, [&] {
    const bool is_production = options.executor == Executor::Production || options.executor == Executor::Flow;
    if (is_production && options.evaluation == Evaluation::DataDriven) {
      return run_production_all(graph, checked, options, plans);
    }
    for (std::size_t i = 0; i < checked.size(); ++i) {
      RunResult result = run_with_executor(graph, checked.arguments(i), options, plans);
      checked.take_results(i, std::move(result.values));
    }
  });
}

}  // namespace hiaton::exec
