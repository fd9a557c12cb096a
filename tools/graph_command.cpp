// hiaton graph FILE [--after=PASS] [--format=FORMAT] [--out=FILE]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>
#include <memory>

#include "choices.h"
#include "commands.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "hiaton/model.h"
#include "output.h"
#include "partition/partition.h"
#include "place_option.h"
#include "program_file.h"
#include "program_options.h"

namespace hiaton::cli {
namespace {

struct GraphCommand {
  std::string file;
  std::string after = "lower";
  std::string format = "text";
  std::string of;  ///< empty: main, or, of a model that has none, training
  std::string out;
  PlaceOptions places;
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
  graph::DrawOptions draw;
  CompileOptions compile;
};

/// The format that the name of a file asks for. Throws UsageError where that is one of other pictures.
std::string format_of(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  if (ending == ".svg" || ending == ".dot" || ending == ".json") return ending.substr(1);
  if (ending == ".gv") return "dot";
  if (ending == ".png" || ending == ".pdf" || ending == ".jpg")
    throw UsageError(fmt::format("--out: pictures are written as .svg or .dot, found '{}'", file));
  return "text";
}

/// The program text after one of the passes that come before lowering.
std::string module_text(const GraphCommand& command) {
  const ir::Module module = lang::parse(read_program_named(command.file), {command.compile.sizes});
  const passes::SimplifyOptions& simplify = command.compile.simplify;
  if (command.after == "parse") return ir::print(module);
  if (command.after == "fold") return ir::print(passes::fold_constants(module, simplify.overflow));
  if (command.after == "flatten-logic") return ir::print(passes::flatten_logic(module, simplify.overflow));
  if (command.after == "cse") return ir::print(passes::merge_common(module, simplify.overflow));
  if (command.after == "dce") return ir::print(passes::drop_dead(module, simplify.overflow));
  if (command.after == "inline") return ir::print(passes::inline_small_functions(module));
  return ir::print(passes::simplify(module, simplify));
}

/// Graphviz may take minutes, without a word.
void note_large_picture(const graph::Graph& graph, const GraphCommand& command) {
  constexpr std::size_t kLarge = 1000;
  const bool is_whole = command.draw.only.empty() && command.draw.collapsed.empty();
  if (command.format != "svg" || !is_whole || graph.nodes().size() < kLarge) return;
  note(fmt::format(
      "the graph has {} nodes, which Graphviz may lay out for minutes; --only and --collapse draw a "
      "part of it",
      graph.nodes().size()));
}

/// A part for each process.
std::string text_of_parts(const graph::Graph& graph, const GraphCommand& command) {
  const partition::Places places =
      places_for(command.places, command.places.places.processes, command.max_bytes);
  const partition::Partition partition = partition::split(graph, places);
  const std::vector<graph::DrawnPart> drawn = drawn_parts(partition);
  if (command.format == "dot") return graph::to_dot(drawn, command.draw);
  if (command.format == "svg") return graph::to_svg(drawn, command.draw);
  std::string text = show_places(graph, places);
  for (const graph::DrawnPart& part : drawn)
    text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", part.title, graph::to_text(part.graph));
  return text;
}

std::string text_of(const graph::Graph& graph, const GraphCommand& command) {
  note_large_picture(graph, command);
  if (command.places.places.processes > 1) return text_of_parts(graph, command);
  if (command.format == "dot") return graph::to_dot(graph, command.draw);
  if (command.format == "svg") return graph::to_svg(graph, command.draw);
  if (command.format == "json") return graph::to_json(graph);
  return graph::to_text(graph);
}

std::string graph_text(const GraphCommand& command) {
  const bool is_saved = std::filesystem::path(command.file).extension() == ".json";
  if (command.of == "main" || (command.of.empty() && is_saved))
    return text_of(load_program_named(command.file, command.compile).graph(), command);
  ir::Module module = lang::parse(read_program_named(command.file), {command.compile.sizes});
  if (command.of.empty() && (module.find("main") || !module.find("loss")))
    return text_of(Program::from_module(std::move(module), command.compile).graph(), command);
  const Model model = Model::from_module(std::move(module), command.compile);
  if (command.of == "loss") return text_of(model.loss_program().graph(), command);
  if (command.of == "predict") return text_of(model.predict_program().graph(), command);
  return text_of(model.training_program().graph(), command);
}

int show_graph(const GraphCommand& command) {
  const bool of_module = command.after != "lower";
  if (of_module && command.format != "text") {
    throw UsageError(fmt::format("--after={} shows program text: --format={} needs --after=lower",
                                 command.after, command.format));
  }
  const bool draws_some =
      !command.draw.only.empty() || !command.draw.collapsed.empty() || command.draw.legend;
  if (command.places.places.processes > 1 && (of_module || command.format == "json" || draws_some)) {
    throw UsageError(
        "--processes: expected text, dot or svg of the whole graph, found an option that shows another form "
        "of "
        "the program, or a part of it");
  }
  if (command.places.places.processes == 1 && command.places.has_any())
    throw UsageError("--place: expected --processes=N, found one process");
  std::string text = of_module ? module_text(command) : graph_text(command);
  if (!text.ends_with('\n')) text += '\n';
  write_to(command.out, text);
  return kSuccess;
}

void add_draw_options(CLI::App& options, graph::DrawOptions& draw) {
  constexpr const char* kGroup = "Pictures (dot and svg)";
  options.add_option("--only", draw.only, "Draw these functions; calls of others are one box each")
      ->delimiter(',')
      ->type_name("NAME")
      ->group(kGroup);
  options
      .add_option("--collapse", draw.collapsed, "Do not draw these functions; their calls are one box each")
      ->delimiter(',')
      ->type_name("NAME")
      ->group(kGroup);
  options.add_flag("--legend", draw.legend, "Explain shapes and colours")->group(kGroup);
}

}  // namespace

Command add_graph_command(CLI::App& app) {
  auto command = std::make_shared<GraphCommand>();
  CLI::App* options = app.add_subcommand("graph", "Show the static tagged graph of a program");
  options
      ->add_option("FILE", command->file,
                   "A program (.hia), or a saved graph (.json); - is a program on standard input")
      ->type_name("")
      ->required();
  options
      ->add_option("--after", command->after,
                   "What to show: the graph (lower), or the program as text after parse or after one of the "
                   "simplifications (fold, flatten-logic, cse, dce, inline), or after all (simplify)")
      ->check(one_of({"parse", "fold", "flatten-logic", "cse", "dce", "inline", "simplify", "lower"}))
      ->type_name("PASS")
      ->capture_default_str();
  options
      ->add_option(
          "--format", command->format,
          "text; dot, for Graphviz; svg, drawn by Graphviz; json, to save it; else as the name of --out "
          "ends, or text")
      ->check(one_of({"text", "dot", "svg", "json"}))
      ->type_name("FORMAT");
  options
      ->add_option(
          "--of", command->of,
          "Which graph: that of main; of a model: what loss or predict run as, or, with gradients, training, "
          "where there is no main")
      ->check(one_of({"main", "loss", "predict", "training"}))
      ->type_name("NAME")
      ->default_str("main");
  add_split_options(*options, command->places,
                    "What each of so many processes has of it, with Send and Recv in between");
  add_max_bytes(*options, command->max_bytes, "Processes");
  add_draw_options(*options, command->draw);
  options->add_option("--out", command->out, "Write to this file instead of standard output")
      ->type_name("FILE");
  add_compile_options(*options, command->compile);
  return {options, [options, command](const std::vector<std::string>&) {
            if (options->count("--format") == 0) command->format = format_of(command->out);
            return show_graph(*command);
          }};
}

}  // namespace hiaton::cli
