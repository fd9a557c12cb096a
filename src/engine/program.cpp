#include "engine/pipeline.h"
#include "exec/listed_examples.h"
#include "exec/run.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton {
Program::Program(std::optional<ir::Module> module, graph::Graph graph, OverflowMode overflow)
    : module_(std::move(module)),
      graph_(std::move(graph)),
      overflow_(overflow),
      plans_(std::make_shared<exec::PlanCache>()) {
  for (graph::NodeId id : graph_.inputs()) parameters_.push_back({graph_[id].name, graph_[id].type});
  for (graph::NodeId id : graph_.outputs()) results_.push_back(graph_[id].type);
}

Program Program::from_file(const std::filesystem::path& path, const CompileOptions& options) {
  const std::shared_ptr<const Source> source = read_program(path);
  if (path.extension() == ".json")
    return from_graph(graph::from_json(source->text(), source->name()), options);
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
  return Program(std::move(module), std::move(graph), options.simplify.overflow);
}

Program Program::from_graph(graph::Graph graph, const CompileOptions& options) {
  return Program(std::nullopt, std::move(graph), options.simplify.overflow);
}

RunResult Program::run(std::span<const Value> arguments, RunOptions options) const {
  options.overflow = overflow_;
  return exec::run(graph_, arguments, options, *plans_);
}

std::vector<std::vector<Value>> Program::run_all(std::span<const std::vector<Value>> arguments,
                                                 RunOptions options) const {
  exec::ListedExamples examples(arguments);
  run_all(examples, std::move(options));
  return examples.take_all();
}

void Program::run_all(Examples& examples, RunOptions options) const {
  options.overflow = overflow_;
  exec::run_all(graph_, examples, options, *plans_);
}

}  // namespace hiaton
