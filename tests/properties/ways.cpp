#include "properties/ways.h"

#include <fmt/format.h>

#include <cmath>

#include "exec/reference.h"
#include "exec/run.h"
#include "hiaton/passes.h"

namespace hiaton::properties {
namespace {

using passes::SimplifyOptions;
using Prepare = std::function<ir::Module(const ir::Module&, OverflowMode)>;

RunOptions options(Executor executor, int workers = 1, int parallel_iterations = 10) {
  RunOptions options;
  options.executor = executor;
  options.workers = workers;
  options.parallel_iterations = parallel_iterations;
  options.max_frames = 1'000'000;
  options.timeout = std::chrono::seconds(20);
  return options;
}

ir::Module unchanged(const ir::Module& module, OverflowMode) {
  return module;
}

ir::Module simplified(const ir::Module& module, OverflowMode overflow) {
  return passes::simplify(module, {.overflow = overflow});
}

/// simplify() with one of its passes only.
Prepare only(bool SimplifyOptions::*pass) {
  return [pass](const ir::Module& module, OverflowMode overflow) {
    SimplifyOptions options = SimplifyOptions::none(overflow);
    options.*pass = true;
    return passes::simplify(module, options);
  };
}

bool same(const Value& a, const Value& b) {
  if (a.dtype() == DType::F32 && b.dtype() == DType::F32 && std::isnan(a.as<float>())) {
    return std::isnan(b.as<float>());
  }
  if (a.dtype() == DType::F64 && b.dtype() == DType::F64 && std::isnan(a.as<double>())) {
    return std::isnan(b.as<double>());
  }
  return a == b;
}

Outcome run_graph(const graph::Graph& graph, const Program& program, RunOptions options) {
  RunStats stats;
  options.stats = &stats;
  Outcome outcome;
  std::vector<exec::WaitingNode> leftovers;
  try {
    outcome.values = options.executor == Executor::Reference
                         ? exec::run_reference(graph, program.arguments, options, &leftovers).values
                         : exec::run(graph, program.arguments, options).values;
  } catch (const RunError& error) {
    outcome.fault = error.fault();
    outcome.message = error.what();
  }
  if (stats.frames_live_at_end != 0) {
    outcome.is_defect = true;
    outcome.message += fmt::format("{} frames are left over", stats.frames_live_at_end);
  }
  if (!leftovers.empty()) {
    outcome.is_defect = true;
    outcome.message += fmt::format("{} nodes still wait for tokens", leftovers.size());
  }
  return outcome;
}

}  // namespace

std::string to_string(const Outcome& outcome) {
  if (outcome.is_defect) return "defect: " + outcome.message;
  if (outcome.fault != Fault::None) {
    return fmt::format("{}: {}", name_of(outcome.fault),
                       outcome.message.substr(0, outcome.message.find('\n')));
  }
  std::string text;
  for (const Value& value : outcome.values) text += (text.empty() ? "" : ", ") + to_string(value);
  return text;
}

const std::vector<Way>& ways() {
  using enum Executor;
  static const std::vector<Way> all{
      {"reference", unchanged, options(Reference)},
      {"reference, one iteration at a time", unchanged, options(Reference, 1, 1)},
      {"reference, folded", only(&SimplifyOptions::fold), options(Reference)},
      {"reference, logic flattened", only(&SimplifyOptions::flatten_logic), options(Reference)},
      {"reference, common merged", only(&SimplifyOptions::cse), options(Reference)},
      {"reference, dead dropped", only(&SimplifyOptions::dce), options(Reference)},
      {"reference, inlined", only(&SimplifyOptions::inline_small), options(Reference)},
      {"reference, simplified", simplified, options(Reference)},
      {"expanding", unchanged, options(Expanding)},
      {"production", unchanged, options(Production)},
      {"production, 2 workers", unchanged, options(Production, 2)},
      {"production, 8 workers", unchanged, options(Production, 8)},
      {"production, one iteration at a time", unchanged, options(Production, 1, 1)},
      {"production, simplified", simplified, options(Production)},
      {"production, simplified, 2 workers", simplified, options(Production, 2)},
      {"expanding, simplified, one iteration at a time", simplified, options(Expanding, 1, 1)},
  };
  return all;
}

Outcome run(const Way& way, const Program& program, OverflowMode overflow) {
  try {
    const ir::Module module = way.prepare(program.module, overflow);
    ir::verify(module);
    RunOptions options = way.options;
    options.overflow = overflow;
    return run_graph(passes::lower(module), program, options);
  } catch (const std::exception& error) {
    return {.fault = Fault::None, .values = {}, .message = error.what(), .is_defect = true};
  }
}

bool agree(const Outcome& a, const Outcome& b, bool one_kind_of_fault) {
  if (a.is_defect || b.is_defect) return false;
  if (a.fault != Fault::None || b.fault != Fault::None) {
    return one_kind_of_fault ? a.fault == b.fault : a.fault != Fault::None && b.fault != Fault::None;
  }
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same);
}

}  // namespace hiaton::properties
