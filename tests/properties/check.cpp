#include "properties/check.h"

#include <fmt/format.h>

#include "hiaton/lang.h"
#include "hiaton/passes.h"
#include "properties/ways.h"

namespace hiaton::properties {
namespace {

std::string wrong_in_text(const ir::Module& module) {
  const std::string text = ir::print(module);
  const ir::Module parsed = lang::parse(std::make_shared<const Source>("printed.hia", text));
  if (!ir::equal(module, parsed)) return "printed and parsed, the module is another:\n" + text;
  const std::string again = ir::print(parsed);
  return again == text ? "" : "printed again, the module is another text:\n" + text + "\nthen\n" + again;
}

std::string wrong_in_saved_form(const ir::Module& module) {
  const graph::Graph graph = passes::lower(module);
  const std::string saved = graph::to_json(graph);
  const graph::Graph loaded = graph::from_json(saved, "saved.json");
  return graph::to_json(loaded) == saved && graph::to_text(loaded) == graph::to_text(graph)
             ? ""
             : "saved and loaded, the graph is another";
}

std::string wrong_form(const ir::Module& module) {
  try {
    ir::verify(module);
    const std::string wrong = wrong_in_text(module);
    return wrong.empty() ? wrong_in_saved_form(module) : wrong;
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string_view name_of(OverflowMode overflow) {
  return overflow == OverflowMode::Wrap ? "wrapping" : "trapping";
}

Verdict compare_runs(const Program& program, OverflowMode overflow, std::chrono::nanoseconds timeout) {
  const bool one_kind =
      program.danger == Danger::None || (program.danger != Danger::Any && overflow == OverflowMode::Wrap);
  Runner runner(program, overflow, timeout);
  const Way& first = ways()[0];
  const Outcome expected = runner.run(first);
  if (expected.is_budget()) return {.wrong = to_string(expected), .over_budget = true};
  if (expected.is_defect) return {.wrong = first.name + ": " + to_string(expected)};
  for (std::size_t i = 1; i < ways().size(); ++i) {
    if (program.seed % ways()[i].every != 0) continue;
    const Outcome found = runner.run(ways()[i]);
    if (agree(expected, found, one_kind)) continue;
    return {.wrong = fmt::format("under {} overflow\n  {}: {}\n  {}: {}", name_of(overflow), first.name,
                                 to_string(expected), ways()[i].name, to_string(found)),
            .over_budget = found.is_budget()};
  }
  return {};
}

}  // namespace

Verdict check(const Program& program, std::chrono::nanoseconds timeout) {
  if (const std::string wrong = wrong_form(program.module); !wrong.empty()) return {.wrong = wrong};
  for (const OverflowMode overflow : {OverflowMode::Wrap, OverflowMode::Trap}) {
    if (Verdict verdict = compare_runs(program, overflow, timeout); !verdict.wrong.empty()) return verdict;
  }
  return {};
}

}  // namespace hiaton::properties
