#include "train/model_sizes.h"

#include <fmt/format.h>

#include <utility>

#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton::train {

namespace {

void require_options(const TrainerOptions& options) {
  for (const auto& [name, number] :
       {std::pair("classes", options.classes), std::pair("vocabulary size", options.vocabulary_size)}) {
    if (number < 0) throw ProgramError(fmt::format("{}: expected 0 or more, found {}", name, number));
  }
  const bool is_known =
      options.batching == "on" || options.batching == "off" || options.batching == "deterministic";
  if (!is_known) {
    throw ProgramError(
        fmt::format("batching: expected on, off or deterministic, found '{}'", options.batching));
  }
}

}  // namespace

std::map<std::string, int64_t> sizes_for(const TrainerOptions& options,
                                         const std::shared_ptr<const Source>& program) {
  const std::map<std::string, int64_t> declared = lang::declared_sizes(program);
  std::map<std::string, int64_t> sizes = options.sizes;
  if (declared.contains("classes") && options.classes > 0) sizes.try_emplace("classes", options.classes);
  if (declared.contains("vocab") && options.vocabulary_size > 0)
    sizes.try_emplace("vocab", options.vocabulary_size);
  return sizes;
}

Model model_of(const TrainerOptions& options) {
  const std::shared_ptr<const Source> program = read_program(options.model);
  return Model::from_text(program->name(), std::string(program->text()),
                          {.sizes = sizes_for(options, program)});
}

RunOptions run_options_of(const TrainerOptions& options) {
  RunOptions run;
  run.workers = options.workers;
  run.batching = options.batching != "off";
  run.parts = options.batching == "deterministic" ? options.parts : 0;  // else workers may share calls
  run.max_bytes = options.max_bytes;
  run.trace = options.trace;
  run.processes = options.processes;
  run.places = options.places;
  run.place_parameters = options.place_parameters;
  run.replicas = options.replicas;
  return run;
}

ModelTrainer make_trainer(const TrainerOptions& options) {
  require_options(options);
  return ModelTrainer(model_of(options), {}, options.seed, run_options_of(options));
}

}  // namespace hiaton::train
