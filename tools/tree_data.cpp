#include "tree_data.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "choices.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "program_file.h"
#include "train/random_stream.h"

namespace hiaton::cli {
namespace {

using graph::JsonPlace;

constexpr const char* kGenerated = "listops";
constexpr int32_t kDigits = 10;

std::string absolute(const std::string& path) {
  return path.empty() || path == kStandardInput || path.ends_with('%')
             ? path
             : std::filesystem::absolute(path).lexically_normal().string();
}

void add_files(CLI::App& command, TrainingData& data, DataOptions& added) {
  constexpr const char* kGroup = "Data";
  added.files.push_back(
      command
          .add_option_function<std::string>(
              "--data", [&data](const std::string& file) { data.train = file == kGenerated ? "" : file; },
              "Examples to learn from, one a line: what 'loss' takes, as 'hiaton run' prints values, or in "
              "JSON; or trees: (3 (2 It) (4 (2 's) (4 good))); - is standard input, the word listops stands "
              "for generated trees")
          ->type_name("FILE")
          ->default_str(kGenerated)
          ->group(kGroup));
  added.files.push_back(
      command
          .add_option("--dev", data.dev,
                      "Examples for the evaluation after each epoch, or a share of --data, such as 10%")
          ->type_name("FILE")
          ->group(kGroup));
  added.stream =
      command
          .add_flag(
              "--stream", data.is_streamed,
              "Read examples when they are used, shuffled by blocks, for data larger than memory; files "
              "above 1 GiB are read like this anyway")
          ->group(kGroup);
}

void add_generator(CLI::App& command, ListOpsData& data, DataOptions& added) {
  constexpr const char* kGroup = "Generated ListOps expressions";
  const auto add = [&](const std::string& name, auto& value, const std::string& description) {
    added.listops.push_back(command.add_option(name, value, description)
                                ->check(any_number<std::remove_cvref_t<decltype(value)>>())
                                ->type_name("N")
                                ->capture_default_str()
                                ->group(kGroup));
  };
  add("--train-trees", data.train_count, "How many to learn from");
  add("--dev-trees", data.dev_count, "How many to evaluate");
  add("--min-depth", data.options.min_depth, "Nested operations at least");
  add("--max-depth", data.options.max_depth, "Nested operations at most");
  add("--min-arity", data.options.min_arity, "Operands of an operation at least");
  add("--max-arity", data.options.max_arity, "Operands of an operation at most");
  add("--data-seed", data.options.seed, "Which expressions");
  added.listops.push_back(command
                              .add_option("--operators", data.options.operators,
                                          "Some of MAX, MIN, MED (median) and SM (sum modulo 10)")
                              ->delimiter(',')
                              ->type_name("NAME,...")
                              ->default_str("MAX,MIN,MED,SM")
                              ->group(kGroup));
}

}  // namespace

DataOptions add_data_options(CLI::App& command, TrainingData& data) {
  DataOptions added;
  add_files(command, data, added);
  add_generator(command, data.listops, added);
  return added;
}

std::shared_ptr<const Source> read_data(const std::string& file) {
  return read_source(file == kStandardInput ? "/dev/stdin" : file);
}

std::optional<double> TrainingData::dev_share() const {
  const bool is_share = dev.ends_with('%');
  double percent = 0;
  const char* end = dev.data() + dev.size() - (is_share ? 1 : 0);
  const auto [read, code] = std::from_chars(dev.data(), end, percent);
  const bool is_number = code == std::errc() && read == end;
  if (!is_share && (!is_number || std::filesystem::exists(dev))) return std::nullopt;
  if (!is_share || !is_number || !(percent > 0 && percent < 100)) {
    throw ProgramError(fmt::format(
        "--dev: expected a file, or a share above 0% and below 100% such as 10%, found '{}'", dev));
  }
  return percent / 100;
}

bool is_held_back(std::size_t index, double share) {
  constexpr uint64_t kSteps = 1'000'000;
  return static_cast<double>(train::mix_bits(index) % kSteps) < share * static_cast<double>(kSteps);
}

train::Treebank read_all_trees(const std::shared_ptr<const Source>& source, int32_t classes) {
  train::Treebank trees = train::read_trees(source, {classes});
  if (trees.trees.empty()) throw ProgramError(fmt::format("{}: expected trees, found none", source->name()));
  return trees;
}

LoadedTrees load_trees(const TrainingData& data, const std::shared_ptr<const Source>& train,
                       int32_t classes) {
  if (data.is_generated()) {
    if (!data.dev.empty()) throw ProgramError("expected --dev with --data alone: generated data has its own");
    if (classes != 0 && classes != kDigits) {
      throw ProgramError(fmt::format("expected {} classes for ListOps, found {}", kDigits, classes));
    }
    train::ListOps generated =
        train::generate_listops(data.listops.options, data.listops.train_count, data.listops.dev_count);
    return {std::move(generated.train), std::move(generated.dev), kDigits};
  }
  LoadedTrees trees{read_all_trees(train, classes), {}, classes};
  if (classes == 0) trees.classes = trees.train.class_count();
  if (trees.classes == 0) throw ProgramError(fmt::format("{}: expected labels, found none", data.train));
  if (const std::optional<double> share = data.dev_share()) {
    trees.dev = {hold_back(trees.train.trees, *share), trees.train.words};
  } else if (!data.dev.empty()) {
    trees.dev = read_all_trees(read_data(data.dev), trees.classes);
  }
  return trees;
}

nlohmann::ordered_json to_json(const TrainingData& data) {
  if (!data.is_generated()) {
    return {{"train", absolute(data.train)},
            {"dev", absolute(data.dev)},
            {"values", data.is_of_values},
            {"stream", data.is_streamed}};
  }
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

TrainingData training_data_from(const JsonPlace& place) {
  TrainingData data;
  if (place.has("train")) {
    place.require_fields({"train", "dev", "values", "stream"});
    data.is_streamed = place.field("stream").boolean();
    data.is_of_values = place.field("values").boolean();
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
