#include "trained_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/file_bytes.h"
#include "choices.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "net/identity.h"
#include "output.h"
#include "program_options.h"
#include "train/model_sizes.h"

namespace hiaton::cli {
namespace {

using graph::JsonPlace;

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

std::map<std::string, int64_t> sizes_from(const JsonPlace& place, const nlohmann::json& json) {
  std::map<std::string, int64_t> sizes;
  if (!place.is_object()) place.fail("expected an object of sizes");
  for (const auto& [name, value] : json.items()) sizes[name] = place.field(name).integer(1, kMost);
  return sizes;
}

constexpr int kMostWorkers = 1024;
constexpr int kMostParts = 1024;
const std::vector<std::string> kBatching = {"on", "off", "deterministic"};

nlohmann::ordered_json to_json(const Execution& execution) {
  return {{"workers", execution.workers}, {"batching", execution.batching}, {"parts", execution.parts}};
}

Execution execution_from(const JsonPlace& place) {
  place.require_fields({"workers", "batching", "parts"});
  const std::string batching = place.field("batching").text();
  if (std::ranges::count(kBatching, batching) == 0) {
    place.field("batching")
        .fail(fmt::format("expected one of {}, found '{}'", fmt::join(kBatching, ", "), batching));
  }
  return {.workers = static_cast<int>(place.field("workers").integer(1, kMostWorkers)),
          .batching = batching,
          .parts = static_cast<int>(place.field("parts").integer(1, kMostParts))};
}

[[noreturn]] void fail_on_program(const std::filesystem::path& path, const ModelDirectory& directory) {
  const std::string parent = directory.path().empty() ? "." : directory.path().string();
  const std::string how = std::filesystem::exists(directory.info())
                              ? fmt::format("the checkpoint is its directory '{}'", parent)
                              : fmt::format("'hiaton train {}' makes one, the directory 'checkpoints/{}'",
                                            path.string(), path.stem().string());
  throw ProgramError(
      fmt::format("expected a checkpoint, found '{}', which is a program; {}", path.string(), how));
}

}  // namespace

nlohmann::ordered_json to_json(const ModelInfo& model) {
  return {{"classes", model.classes},    {"sizes", model.sizes},
          {"seed", model.seed},          {"min_count", model.min_count},
          {"data", to_json(model.data)}, {"execution", to_json(model.execution)}};
}

void ExecutionOptions::add_to(CLI::App& command, bool with_parts) {
  constexpr const char* kGroup = "Execution";
  workers_ = command.add_option("--workers", given_.workers, "How many threads share the work")
                 ->check(in_range(1, kMostWorkers))
                 ->type_name("N")
                 ->default_str("1")
                 ->group(kGroup);
  batching_ =
      command
          .add_option("--batching", given_.batching,
                      "Run the same step of many calls at once; deterministic: with the same bits for any "
                      "number of workers and processes")
          ->check(one_of(kBatching))
          ->type_name("MODE")
          ->default_str("on")
          ->group(kGroup);
  if (with_parts) {
    parts_ = command
                 .add_option("--parts", given_.parts,
                             "Deterministic: into how many parts a batch is cut; at least the processes")
                 ->check(in_range(1, kMostParts))
                 ->type_name("N")
                 ->capture_default_str()
                 ->group(kGroup);
  }
  add_max_bytes(command, given_.max_bytes, kGroup);
  add_place_option(command, given_.places);
  command
      .add_option("--replicas", given_.replicas,
                  "How many groups of processes hold all parameters each, and share the examples; else one "
                  "where something is placed, or each process")
      ->check(in_range(1, 1024))
      ->type_name("N")
      ->group("Processes");
}

void require_processes(const Execution& execution, const ProcessOptions& processes) {
  const bool is_alone = !is_spread(processes);
  const auto require = [is_alone](bool is_given, std::string_view option) {
    if (is_given && is_alone)
      throw UsageError(fmt::format("{}: expected several processes, as --processes=N, found one", option));
  };
  require(execution.places.has_any(), "--place");
  require(execution.replicas > 0, "--replicas");
  places_for(execution.places, processes.processes, execution.max_bytes);
}

Execution ExecutionOptions::over(Execution base) const {
  if (workers_->count() > 0) base.workers = given_.workers;
  if (batching_->count() > 0) base.batching = given_.batching;
  if (parts_ != nullptr) {
    require_effect(*parts_, base.batching == "deterministic", "--batching=deterministic");
    if (parts_->count() > 0) base.parts = given_.parts;
  }
  base.max_bytes = given_.max_bytes;
  base.places = given_.places;
  base.replicas = given_.replicas;
  return base;
}

void ModelDirectory::write(const std::filesystem::path& program_file, const train::Vocabulary& words,
                           const ModelInfo& model) const {
  constexpr int kIndent = 2;
  write_atomically(program(), {read_program(program_file)->text()});
  words.save(vocabulary());
  write_atomically(
      info(), {to_json(model).dump(kIndent, ' ', true, nlohmann::json::error_handler_t::replace) + "\n"});
}

ModelInfo ModelDirectory::read_info() const {
  const std::string name = info().string();
  const nlohmann::json json = nlohmann::json::parse(read_file(name), nullptr, false);
  if (json.is_discarded()) throw ProgramError(fmt::format("{}: expected JSON, found other text", name));
  const JsonPlace place(json, name);
  place.require_fields({"classes", "sizes", "seed", "min_count", "data", "execution"});
  ModelInfo model;
  model.classes = static_cast<int32_t>(place.field("classes").integer(0, kMost));
  model.sizes = sizes_from(place.field("sizes"), json.at("sizes"));
  model.seed = place.field("seed").unsigned_number();
  model.min_count = place.field("min_count").integer(0, kMost);
  model.data = training_data_from(place.field("data"));
  model.execution = execution_from(place.field("execution"));
  return model;
}

train::TrainerOptions trainer_options(const std::filesystem::path& program, const ModelInfo& model,
                                      const train::Vocabulary& words, const Execution& execution) {
  return {.model = program,
          .classes = model.classes,
          .vocabulary_size = model.data.is_of_values && words.size() == 1 ? 0 : words.size(),
          .sizes = model.sizes,
          .seed = model.seed,
          .workers = execution.workers,
          .batching = execution.batching,
          .parts = execution.parts,
          .max_bytes = execution.max_bytes,
          .places = execution.places.places.named,
          .place_parameters = execution.places.is_automatic,
          .replicas = execution.replicas};
}

Checkpoint find_checkpoint(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw ProgramError(fmt::format("cannot read '{}': there is no such checkpoint", path.string()));
  }
  const bool is_directory = std::filesystem::is_directory(path);
  Checkpoint checkpoint{ModelDirectory(is_directory ? path : path.parent_path()), path};
  if (is_directory) checkpoint.parameters = checkpoint.directory.best();
  if (!is_directory && path.extension() == ".hia") fail_on_program(path, checkpoint.directory);
  if (!std::filesystem::exists(checkpoint.directory.info())) {
    throw ProgramError(
        fmt::format("'{}': expected the directory of a training run, or a checkpoint in there, found no "
                    "'{}', which 'hiaton train' writes",
                    path.string(), checkpoint.directory.info().string()));
  }
  return checkpoint;
}

bool is_bare_parameters(const std::filesystem::path& path) {
  return path.extension() == ".safetensors" && std::filesystem::is_regular_file(path) &&
         !std::filesystem::exists(ModelDirectory(path.parent_path()).info());
}

std::map<std::string, int64_t> trained_sizes(const ModelDirectory& directory) {
  const ModelInfo info = directory.read_info();
  const train::Vocabulary words = train::Vocabulary::load(directory.vocabulary());
  const train::TrainerOptions options = trainer_options(directory.program(), info, words, info.execution);
  const std::shared_ptr<const Source> program = read_program(directory.program());
  return lang::declared_sizes(program, {train::sizes_for(options, program)});
}

std::string hash_of_model(const std::filesystem::path& path) {
  const auto [directory, parameters] = find_checkpoint(path);
  std::string all;
  for (const std::filesystem::path& file :
       {directory.info(), directory.vocabulary(), directory.program(), parameters}) {
    const std::string bytes = read_file(file.string());
    all += net::hash_of(std::as_bytes(std::span(bytes)));
  }
  return net::hash_of(std::as_bytes(std::span(all)));
}

TrainedModel load_model(const std::filesystem::path& path, const Execution& execution) {
  const auto [directory, parameters] = find_checkpoint(path);
  const ModelInfo info = directory.read_info();
  const train::Vocabulary words = train::Vocabulary::load(directory.vocabulary());
  TrainedModel model{info, words,
                     train::make_trainer(trainer_options(directory.program(), info, words, execution))};
  train::load_parameters(parameters, model.trainer);
  return model;
}

void note_dropout(const train::ModelTrainer& trainer, bool evaluates_loss) {
  for (const std::string& warning : train::dropout_warnings(trainer.model(), evaluates_loss)) note(warning);
}

}  // namespace hiaton::cli
