#include "tree_data.h"

#include <fmt/format.h>

#include <limits>

#include "hiaton/error.h"

namespace hiaton::cli {
namespace {

using graph::JsonPlace;

constexpr const char* kGenerated = "listops";
constexpr int32_t kDigits = 10;

std::string absolute(const std::string& path) {
  return path.empty() ? "" : std::filesystem::absolute(path).lexically_normal().string();
}

void add_files(CLI::App& command, TreeData& data, TreeDataOptions& added) {
  constexpr const char* kGroup = "Data";
  added.files.push_back(
      command
          .add_option_function<std::string>(
              "--data", [&data](const std::string& file) { data.train = file == kGenerated ? "" : file; },
              "Trees to learn from, one a line: (3 (2 It) (4 (2 's) (4 good))); or the word "
              "listops, for generated ones")
          ->type_name("FILE")
          ->default_str(kGenerated)
          ->group(kGroup));
  added.files.push_back(command.add_option("--dev", data.dev, "Trees for the evaluation after each epoch")
                            ->type_name("FILE")
                            ->group(kGroup));
}

void add_generator(CLI::App& command, ListOpsData& data, TreeDataOptions& added) {
  constexpr const char* kGroup = "Generated ListOps expressions";
  const auto add = [&](const std::string& name, auto& value, const std::string& description) {
    added.listops.push_back(
        command.add_option(name, value, description)->type_name("N")->capture_default_str()->group(kGroup));
  };
  add("--train-trees", data.train_count, "How many to learn from");
  add("--dev-trees", data.dev_count, "How many to evaluate");
  add("--min-depth", data.options.min_depth, "Nested operations at least");
  add("--max-depth", data.options.max_depth, "Nested operations at most");
  add("--min-arity", data.options.min_arity, "Operands of an operation at least");
  add("--max-arity", data.options.max_arity, "Operands of an operation at most");
  add("--data-seed", data.options.seed, "Which expressions");
  added.listops.push_back(command.add_option("--operators", data.options.operators, "Of MAX, MIN, MED, SM")
                              ->delimiter(',')
                              ->type_name("NAME,...")
                              ->default_str("MAX,MIN,MED,SM")
                              ->group(kGroup));
}

}  // namespace

TreeDataOptions add_tree_data_options(CLI::App& command, TreeData& data) {
  TreeDataOptions added;
  add_files(command, data, added);
  add_generator(command, data.listops, added);
  return added;
}

LoadedTrees load_trees(const TreeData& data, int32_t classes) {
  if (data.is_generated()) {
    if (!data.dev.empty()) throw ProgramError("expected --dev with --data alone: generated data has its own");
    if (classes != 0 && classes != kDigits) {
      throw ProgramError(fmt::format("expected {} classes for ListOps, found {}", kDigits, classes));
    }
    train::ListOps generated =
        train::generate_listops(data.listops.options, data.listops.train_count, data.listops.dev_count);
    return {std::move(generated.train), std::move(generated.dev), kDigits};
  }
  LoadedTrees trees{train::read_trees(std::filesystem::path(data.train), {classes}), {}, classes};
  if (classes == 0) trees.classes = trees.train.class_count();
  if (trees.classes == 0) throw ProgramError(fmt::format("{}: expected labels, found none", data.train));
  if (!data.dev.empty()) trees.dev = train::read_trees(std::filesystem::path(data.dev), {trees.classes});
  return trees;
}

nlohmann::ordered_json to_json(const TreeData& data) {
  if (!data.is_generated()) return {{"train", absolute(data.train)}, {"dev", absolute(data.dev)}};
  const train::ListOpsOptions& options = data.listops.options;
  return {{"train_trees", data.listops.train_count},
          {"dev_trees", data.listops.dev_count},
          {"operators", options.operators},
          {"min_depth", options.min_depth},
          {"max_depth", options.max_depth},
          {"min_arity", options.min_arity},
          {"max_arity", options.max_arity},
          {"max_operations", options.max_operations},
          {"seed", options.seed}};
}

TreeData tree_data_from(const JsonPlace& place) {
  TreeData data;
  if (place.has("train")) {
    place.require_fields({"train", "dev"});
    data.train = place.field("train").text();
    data.dev = place.field("dev").text();
    return data;
  }
  place.require_fields({"train_trees", "dev_trees", "operators", "min_depth", "max_depth", "min_arity",
                        "max_arity", "max_operations", "seed"});
  const auto number = [&](std::string_view field) {
    return static_cast<int32_t>(place.field(field).integer(0, std::numeric_limits<int32_t>::max()));
  };
  data.listops.train_count = place.field("train_trees").unsigned_number();
  data.listops.dev_count = place.field("dev_trees").unsigned_number();
  train::ListOpsOptions& options = data.listops.options;
  options.operators.clear();
  const JsonPlace operators = place.field("operators");
  for (std::size_t i = 0; i < operators.size(); ++i) options.operators.push_back(operators[i].text());
  options.min_depth = number("min_depth");
  options.max_depth = number("max_depth");
  options.min_arity = number("min_arity");
  options.max_arity = number("max_arity");
  options.max_operations = number("max_operations");
  options.seed = place.field("seed").unsigned_number();
  return data;
}

}  // namespace hiaton::cli
