#include "train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "hiaton/error.h"
#include "hiaton/safetensors.h"
#include "tensor/scalar_or_tensor.h"
#include "train/json_records.h"
#include "train/random_stream.h"

namespace hiaton::train {
namespace {

using graph::JsonPlace;

constexpr const char* kProgressField = "hiaton.training";
constexpr const char* kOptimizerField = "hiaton.optimizer";
constexpr std::string_view kSlotPrefix = "optimizer.";
constexpr std::size_t kDifferencesShown = 5;

std::string slot_tensor(const OptimizerSlot& slot, const ParameterValues& parameter) {
  return fmt::format("{}{}.{}", kSlotPrefix, slot.name, parameter.name);
}

std::vector<TensorView> views_of(const std::vector<ParameterValues>& parameters) {
  std::vector<TensorView> views;
  for (const ParameterValues& parameter : parameters)
    views.push_back({parameter.name, parameter.shape, parameter.values});
  return views;
}

nlohmann::ordered_json to_json(const Progress& progress) {
  auto history = nlohmann::ordered_json::array();
  for (const EpochReport& report : progress.history) history.push_back(to_json(report));
  return {{"step", progress.step},
          {"epoch_loss", progress.epoch_loss},
          {"epoch_seconds", progress.epoch_seconds},
          {"best_score", progress.best_score},
          {"best_epoch", progress.best_epoch},
          {"history", history}};
}

Progress progress_from(const JsonPlace& place) {
  place.require_fields({"step", "epoch_loss", "epoch_seconds", "best_score", "best_epoch", "history"});
  Progress progress{.step = place.field("step").unsigned_number(),
                    .epoch_loss = place.field("epoch_loss").real(),
                    .epoch_seconds = place.field("epoch_seconds").real(),
                    .best_score = place.field("best_score").real(),
                    .best_epoch = place.field("best_epoch").integer(0),
                    .history = {}};
  const JsonPlace history = place.field("history");
  for (std::size_t i = 0; i < history.size(); ++i) progress.history.push_back(epoch_report_from(history[i]));
  return progress;
}

/// What the file has not, or of another type, than `name` and `expected` say.
void compare(const SafetensorsFile& file, const std::string& name, const std::string& expected,
             std::vector<std::string>& differences) {
  const SafetensorsFile::Tensor* tensor = file.find(name);
  const std::string found = tensor == nullptr ? "none" : show_type(tensor->dtype, tensor->shape);
  if (found != expected)
    differences.push_back(fmt::format("'{}': expected {}, found {}", name, expected, found));
}

/// What the file holds besides or other than the parameters.
std::vector<std::string> differences(const SafetensorsFile& file,
                                     const std::vector<ParameterValues>& parameters) {
  std::vector<std::string> found;
  for (const ParameterValues& parameter : parameters) {
    compare(file, parameter.name, show_type(safetensors_name(parameter.values.dtype()), parameter.shape),
            found);
  }
  for (const SafetensorsFile::Tensor& tensor : file.tensors()) {
    const bool known =
        tensor.name.starts_with(kSlotPrefix) ||
        std::any_of(parameters.begin(), parameters.end(),
                    [&](const ParameterValues& parameter) { return parameter.name == tensor.name; });
    if (!known) {
      found.push_back(
          fmt::format("'{}': expected none, found {}", tensor.name, show_type(tensor.dtype, tensor.shape)));
    }
  }
  return found;
}

/// Throws ProgramError where there are differences, behind what was expected.
void require_none(const SafetensorsFile& file, std::vector<std::string> differences,
                  std::string_view expected) {
  if (differences.empty()) return;
  const std::size_t more =
      differences.size() > kDifferencesShown ? differences.size() - kDifferencesShown : 0;
  differences.resize(differences.size() - more);
  if (more > 0) differences.push_back(fmt::format("and {} more", more));
  file.fail(fmt::format("{}\n  {}", expected, fmt::join(differences, "\n  ")));
}

/// The values of all parameters, in their order.
std::vector<Numbers> read_parameters(const SafetensorsFile& file,
                                     const std::vector<ParameterValues>& parameters) {
  require_none(file, differences(file, parameters),
               "expected the parameters of this model, found those of another");
  std::vector<Numbers> values;
  for (const ParameterValues& parameter : parameters)
    values.push_back(file.values_of(*file.find(parameter.name)));
  return values;
}

std::vector<OptimizerSlot> read_slots(const SafetensorsFile& file,
                                      const std::vector<ParameterValues>& parameters,
                                      const Optimizer& optimizer) {
  std::vector<OptimizerSlot> slots;
  for (const OptimizerSlot& like : optimizer.slots()) {
    OptimizerSlot slot{like.name, {}};
    for (const ParameterValues& parameter : parameters) {
      const std::string name = slot_tensor(like, parameter);
      const SafetensorsFile::Tensor* tensor = file.find(name);
      const std::string_view dtype = safetensors_name(parameter.values.dtype());
      if (tensor == nullptr || tensor->shape != parameter.shape || tensor->dtype != dtype) {
        file.fail(fmt::format("expected the state of the optimizer, found no '{}' of type {}", name,
                              show_type(dtype, parameter.shape)));
      }
      slot.values.push_back(file.values_of(*tensor));
    }
    slots.push_back(std::move(slot));
  }
  return slots;
}

void assign(std::vector<ParameterValues>& parameters, std::vector<Numbers> values) {
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].values = std::move(values[i]);
}

/// A field of the metadata that only some files have: those for which the message says what was expected.
nlohmann::json metadata_of(const SafetensorsFile& file, const char* field, const std::string& missing) {
  const auto text = file.metadata().find(field);
  if (text == file.metadata().end()) file.fail(missing);
  nlohmann::json json = nlohmann::json::parse(text->second, nullptr, false);
  if (json.is_discarded()) file.fail(fmt::format("expected JSON in '{}', found other text", field));
  return json;
}

void add_slots(const std::vector<ParameterValues>& parameters, const Optimizer& optimizer,
               std::vector<TensorView>& tensors) {
  for (const OptimizerSlot& slot : optimizer.slots()) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      tensors.push_back({slot_tensor(slot, parameters[i]), parameters[i].shape, slot.values[i]});
  }
}

}  // namespace

uint64_t fingerprint(std::span<const Tree> trees) {
  uint64_t hash = trees.size();
  const auto add = [&hash](int32_t a, int32_t b) {
    hash =
        mix_bits(hash ^ (static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b)));
  };
  for (const Tree& tree : trees) {
    for (const Node& node : tree.nodes) {
      add(node.label, node.word);
      add(node.child_count, node.subtree_end);
    }
  }
  return hash;
}

void save_parameters(const std::filesystem::path& path, const std::vector<ParameterValues>& parameters) {
  for (const ParameterValues& parameter : parameters) {
    const Numbers& values = parameter.values;
    const auto is_finite = [](auto value) { return std::isfinite(value); };
    const bool are_finite = values.dtype() == DType::F32 ? std::ranges::all_of(values.floats(), is_finite)
                                                         : std::ranges::all_of(values.doubles(), is_finite);
    if (!are_finite)
      throw ProgramError(
          fmt::format("'{}': expected finite values to be saved, found others", parameter.name));
  }
  write_safetensors(path, views_of(parameters), {});
}

void load_parameters(const std::filesystem::path& path, std::vector<ParameterValues>& parameters) {
  const SafetensorsFile file(path);
  assign(parameters, read_parameters(file, parameters));
}

std::vector<Value> load_values(const std::filesystem::path& path,
                               std::span<const graph::Parameter> parameters) {
  const SafetensorsFile file(path);
  std::vector<std::string> found;
  for (const graph::Parameter& parameter : parameters) {
    compare(file, parameter.name, hiaton::to_string(parameter.type), found);
  }
  require_none(file, std::move(found), "expected all parameters of the program, found others");
  std::vector<Value> values;
  for (const graph::Parameter& parameter : parameters) {
    const SafetensorsFile::Tensor& tensor = *file.find(parameter.name);
    const Numbers elements = file.values_of(tensor);
    Tensor value(elements.dtype(), tensor.shape);
    if (elements.size() > 0)
      std::memcpy(value.mutable_data<std::byte>(), elements.bytes().data(), elements.bytes().size());
    values.push_back(scalar_or_tensor(std::move(value)));
  }
  return values;
}

void save_checkpoint(const std::filesystem::path& path, const std::vector<ParameterValues>& parameters,
                     const Optimizer& optimizer, const Progress& progress, const Settings& settings,
                     uint64_t data_fingerprint) {
  std::vector<TensorView> tensors = views_of(parameters);
  add_slots(parameters, optimizer, tensors);
  const nlohmann::ordered_json training{{"settings", to_json(settings)},
                                        {"data", data_fingerprint},
                                        {"optimizer_steps", optimizer.steps()},
                                        {"progress", to_json(progress)}};
  write_safetensors(path, tensors, {{kProgressField, training.dump()}});
}

void load_checkpoint(const std::filesystem::path& path, std::vector<ParameterValues>& parameters,
                     Optimizer& optimizer, Progress& progress, const Settings& settings,
                     uint64_t data_fingerprint) {
  const SafetensorsFile file(path);
  auto values = read_parameters(file, parameters);
  const nlohmann::json metadata =
      metadata_of(file, kProgressField,
                  "expected a checkpoint to go on from, found parameters alone; training writes it as "
                  "last.safetensors");
  const std::string name = fmt::format("{}: {}", path.string(), kProgressField);
  const JsonPlace place(metadata, name);
  place.require_fields({"settings", "data", "optimizer_steps", "progress"});
  const auto changes = changes_that_matter(settings_from(place.field("settings")), settings);
  if (!changes.empty()) {
    file.fail(fmt::format("expected the settings that training began with, found changes: {}",
                          fmt::join(changes, "; ")));
  }
  if (place.field("data").unsigned_number() != data_fingerprint) {
    file.fail("expected the examples that training began with, found others");
  }
  Progress loaded = progress_from(place.field("progress"));
  optimizer.restore(read_slots(file, parameters, optimizer),
                    place.field("optimizer_steps").unsigned_number());
  assign(parameters, std::move(values));
  progress = std::move(loaded);
}

void save_optimizer(const std::filesystem::path& path, const std::vector<ParameterValues>& parameters,
                    const Optimizer& optimizer, double learning_rate) {
  std::vector<TensorView> tensors;
  add_slots(parameters, optimizer, tensors);
  const nlohmann::ordered_json state{{"kind", name_of(optimizer.settings().kind)},
                                     {"steps", optimizer.steps()},
                                     {"learning_rate", learning_rate}};
  write_safetensors(path, tensors, {{kOptimizerField, state.dump()}});
}

double load_optimizer(const std::filesystem::path& path, const std::vector<ParameterValues>& parameters,
                      Optimizer& optimizer) {
  const SafetensorsFile file(path);
  const nlohmann::json metadata =
      metadata_of(file, kOptimizerField, "expected the state of an optimizer, found other tensors");
  const std::string name = fmt::format("{}: {}", path.string(), kOptimizerField);
  const JsonPlace place(metadata, name);
  place.require_fields({"kind", "steps", "learning_rate"});
  const std::string kind = place.field("kind").text();
  if (kind != name_of(optimizer.settings().kind)) {
    file.fail(fmt::format("expected the state of the optimizer {}, found that of {}",
                          name_of(optimizer.settings().kind), kind));
  }
  const double learning_rate = place.field("learning_rate").real();
  optimizer.restore(read_slots(file, parameters, optimizer), place.field("steps").unsigned_number());
  return learning_rate;
}

}  // namespace hiaton::train
