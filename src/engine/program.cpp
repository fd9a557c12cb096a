#include <mutex>

#include "base/not_moved.h"
#include "engine/pipeline.h"
#include "exec/listed_examples.h"
#include "exec/on_demand.h"
#include "exec/open_program.h"
#include "exec/run_graph.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton {

/// The program as demand-driven evaluation runs it, compiled when the first such run begins.
class Program::OnDemand {
 public:
  explicit OnDemand(CompileOptions options) : options_(std::move(options)) {}

  exec::DemandProgram& of(const Program& program) {
    std::call_once(compiled_, [&] { compile(program); });
    return *program_;
  }

 private:
  void compile(const Program& program) {
    if (!program.module_) {
      program_.reset(new exec::DemandProgram{
          program.graph_, {}, "it is demand-driven, and suspensions are made before there is a graph", {}});
      return;
    }
    ir::Module module = *program.module_;
    module.entry = module.function_named(options_.entry);
    passes::SimplifyOptions simplify = options_.simplify;
    simplify.flatten_logic = false;  // the right side is not always asked for
    module = passes::simplify(std::move(module), simplify);
    passes::OnDemand suspended = passes::suspend(module, options_.simplify.overflow);
    std::optional<graph::Graph> direct;
    if (suspended.module) direct = passes::lower(*suspended.module);
    program_.reset(
        new exec::DemandProgram{compile_simplified(std::move(module), Purpose::Run, simplify.overflow),
                                std::move(direct),
                                std::move(suspended.reason),
                                {}});
  }

  const CompileOptions options_;
  std::once_flag compiled_;
  std::unique_ptr<exec::DemandProgram> program_;
};

/// The program as open runs run it, made when the first one begins.
class Program::Opened {
 public:
  std::shared_ptr<const exec::OpenProgram> of(const Program& program) {
    std::call_once(made_, [&] {
      program_ = std::make_shared<const exec::OpenProgram>(program.graph_, program.plans_, program.overflow_);
    });
    return program_;
  }

 private:
  std::once_flag made_;
  std::shared_ptr<const exec::OpenProgram> program_;
};

Program::Program(std::optional<ir::Module> module, graph::Graph graph, const CompileOptions& options)
    : module_(std::move(module)),
      graph_(std::move(graph)),
      overflow_(options.simplify.overflow),
      plans_(std::make_shared<exec::PlanCache>()),
      on_demand_(std::make_shared<OnDemand>(options)),
      opened_(std::make_shared<Opened>()) {
  for (graph::NodeId id : graph_.inputs()) parameters_.push_back({graph_[id].name, graph_[id].type});
  for (graph::NodeId id : graph_.outputs()) results_.push_back(graph_[id].type);
}

Program Program::from_file(const std::filesystem::path& path, const CompileOptions& options) {
  const std::shared_ptr<const Source> source = read_program(path);
  if (path.extension() == ".json") {
    if (!options.sizes.empty())
      throw ProgramError("expected values of sizes with program text, found them with a saved graph");
    return from_graph(graph::from_json(source->text(), source->name()), options);
  }
  return from_verified(lang::parse(source, {options.sizes}), options);
}

Program Program::from_text(std::string name, std::string text, const CompileOptions& options) {
  return from_verified(
      lang::parse(std::make_shared<const Source>(std::move(name), std::move(text)), {options.sizes}),
      options);
}

Program Program::from_module(ir::Module module, const CompileOptions& options) {
  ir::verify(module);
  return from_verified(std::move(module), options);
}

Program Program::from_verified(ir::Module module, const CompileOptions& options) {
  graph::Graph graph = compile(module, options.entry, Purpose::Run, options);
  return Program(std::move(module), std::move(graph), options);
}

Program Program::from_graph(graph::Graph graph, const CompileOptions& options) {
  return Program(std::nullopt, std::move(graph), options);
}

void Program::require_not_moved() const {
  not_moved(plans_, "a program", "a Program");
}

RunResult Program::run(std::span<const Value> arguments, RunOptions options) const {
  require_not_moved();
  options.overflow = overflow_;
  if (options.evaluation == Evaluation::DemandDriven)
    return exec::run_on_demand(on_demand_->of(*this), arguments, options);
  return exec::run(graph_, arguments, options, *plans_);
}

std::vector<std::vector<Value>> Program::run_all(std::span<const std::vector<Value>> arguments,
                                                 RunOptions options) const {
  exec::ListedExamples examples(arguments);
  run_all(examples, std::move(options));
  return examples.take_all();
}

void Program::run_all(Examples& examples, RunOptions options) const {
  require_not_moved();
  options.overflow = overflow_;
  if (options.evaluation == Evaluation::DemandDriven)
    return exec::run_all_on_demand(on_demand_->of(*this), examples, options);
  exec::run_all(graph_, examples, options, *plans_);
}

OpenRun Program::open(std::span<const Value> arguments, RunOptions options) const {
  require_not_moved();
  OpenRun run(opened_->of(*this), std::move(options));
  for (std::size_t i = 0; i < arguments.size(); ++i) run.feed(i, arguments[i]);
  return run;
}

}  // namespace hiaton
