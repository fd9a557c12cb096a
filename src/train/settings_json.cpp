#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/file_bytes.h"
#include "hiaton/error.h"
#include "train/json_records.h"

namespace hiaton::train {
namespace {

using graph::JsonPlace;

constexpr std::array<std::string_view, 5> kOptimizers = {"sgd", "adagrad", "adam", "rmsprop", "adamw"};
constexpr std::array<std::string_view, 5> kSchedules = {"constant", "linear", "cosine", "step",
                                                        "exponential"};

template <typename Kind, std::size_t count>
Kind kind_of_name(std::string_view found, const std::array<std::string_view, count>& names) {
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == found) return static_cast<Kind>(i);
  }
  throw ProgramError(fmt::format("expected one of {}, found '{}'", fmt::join(names, ", "), found));
}

template <typename Kind, std::size_t count>
Kind kind_from(const JsonPlace& place, const std::array<std::string_view, count>& names) {
  const std::string found = place.text();
  try {
    return kind_of_name<Kind>(found, names);
  } catch (const ProgramError& error) {
    place.fail(error.what());
  }
}

OptimizerSettings optimizer_from(const JsonPlace& place) {
  place.require_fields(
      {"kind", "momentum", "beta1", "beta2", "rho", "epsilon", "weight_decay", "l2", "clip"});
  // Files that were written before there were RMSProp and AdamW lack their settings.
  const auto real_or = [&](std::string_view name, double otherwise) {
    return place.has(name) ? place.field(name).real() : otherwise;
  };
  const OptimizerSettings otherwise;
  return {.kind = kind_from<OptimizerKind>(place.field("kind"), kOptimizers),
          .momentum = place.field("momentum").real(),
          .beta1 = place.field("beta1").real(),
          .beta2 = place.field("beta2").real(),
          .rho = real_or("rho", otherwise.rho),
          .epsilon = place.field("epsilon").real(),
          .weight_decay = real_or("weight_decay", otherwise.weight_decay),
          .l2 = place.field("l2").real(),
          .clip = place.field("clip").real()};
}

Schedule schedule_from(const JsonPlace& place) {
  place.require_fields({"kind", "decay", "decay_every"});
  return {.kind = kind_from<ScheduleKind>(place.field("kind"), kSchedules),
          .decay = place.field("decay").real(),
          .decay_every = place.field("decay_every").integer(1)};
}

bool depends_on_the_last_epoch(const Schedule& schedule) {
  return schedule.kind == ScheduleKind::Linear || schedule.kind == ScheduleKind::Cosine;
}

}  // namespace

std::string_view name_of(OptimizerKind kind) {
  return kOptimizers[static_cast<std::size_t>(kind)];
}

std::string_view name_of(ScheduleKind kind) {
  return kSchedules[static_cast<std::size_t>(kind)];
}

OptimizerKind optimizer_kind_from(std::string_view name) {
  return kind_of_name<OptimizerKind>(name, kOptimizers);
}

ScheduleKind schedule_kind_from(std::string_view name) {
  return kind_of_name<ScheduleKind>(name, kSchedules);
}

nlohmann::ordered_json to_json(const OptimizerSettings& optimizer) {
  return {{"kind", name_of(optimizer.kind)},
          {"momentum", optimizer.momentum},
          {"beta1", optimizer.beta1},
          {"beta2", optimizer.beta2},
          {"rho", optimizer.rho},
          {"epsilon", optimizer.epsilon},
          {"weight_decay", optimizer.weight_decay},
          {"l2", optimizer.l2},
          {"clip", optimizer.clip}};
}

nlohmann::ordered_json to_json(const Settings& settings) {
  return {{"epochs", settings.epochs},
          {"batch", settings.batch},
          {"optimizer", to_json(settings.optimizer)},
          {"learning_rate", settings.learning_rate},
          {"schedule",
           {{"kind", name_of(settings.schedule.kind)},
            {"decay", settings.schedule.decay},
            {"decay_every", settings.schedule.decay_every}}},
          {"seed", settings.seed},
          {"score", settings.score},
          {"patience", settings.patience},
          {"checkpoint_every_steps", settings.checkpoint_every_steps},
          {"eval_batch", settings.eval_batch}};
}

Settings settings_from(const JsonPlace& place) {
  place.require_fields({"epochs", "batch", "optimizer", "learning_rate", "schedule", "seed", "score",
                        "patience", "checkpoint_every_steps", "eval_batch"});
  Settings settings;
  settings.epochs = place.field("epochs").integer(1);
  settings.batch = place.field("batch").integer(1);
  settings.optimizer = optimizer_from(place.field("optimizer"));
  settings.learning_rate = place.field("learning_rate").real();
  settings.schedule = schedule_from(place.field("schedule"));
  settings.seed = place.field("seed").unsigned_number();
  settings.score = place.field("score").text();
  settings.patience = place.field("patience").integer(0);
  settings.checkpoint_every_steps = place.field("checkpoint_every_steps").integer(0);
  settings.eval_batch = place.field("eval_batch").integer(1);
  return settings;
}

std::vector<std::string> changes_that_matter(const Settings& before, const Settings& now) {
  auto old_values = nlohmann::json(to_json(before)).flatten();
  auto new_values = nlohmann::json(to_json(now)).flatten();
  for (const char* free : {"/patience", "/checkpoint_every_steps", "/eval_batch"}) old_values.erase(free);
  if (!depends_on_the_last_epoch(before.schedule)) old_values.erase("/epochs");
  std::vector<std::string> changes;
  for (const auto& [path, value] : old_values.items()) {
    const auto& new_value = new_values[path];
    if (value == new_value) continue;
    std::string name = path.substr(1);
    for (char& c : name) c = c == '/' ? '.' : c;
    changes.push_back(fmt::format("{}: {}, now {}", name, value.dump(), new_value.dump()));
  }
  return changes;
}

void save_settings(const std::filesystem::path& path, const Settings& settings) {
  constexpr int kIndent = 2;
  write_atomically(path, {to_json(settings).dump(kIndent) + "\n"});
}

Settings load_settings(const std::filesystem::path& path) {
  const std::string name = path.string();
  const nlohmann::json json = nlohmann::json::parse(read_file(name), nullptr, false);
  if (json.is_discarded())
    throw ProgramError(fmt::format("{}: expected settings in JSON, found other text", name));
  return settings_from(JsonPlace(json, name));
}

namespace {

/// What is wrong with settings, all in one error.
class Findings {
 public:
  template <class Found>
  void require(bool holds, std::string_view name, std::string_view expected, Found found) {
    if (!holds) findings_.push_back(fmt::format("{}: expected {}, found {}", name, expected, found));
  }
  void not_negative(std::string_view name, double value) {
    require(std::isfinite(value) && value >= 0, name, "a number that is not negative", value);
  }
  void below_one(std::string_view name, double value) {
    require(value >= 0 && value < 1, name, "a number from 0 to below 1", value);
  }
  void at_least(std::string_view name, int64_t least, int64_t value) {
    require(value >= least, name, fmt::format("{} or more", least), value);
  }
  void look_at(const OptimizerSettings& optimizer) {
    not_negative("l2", optimizer.l2);
    not_negative("clip", optimizer.clip);
    not_negative("epsilon", optimizer.epsilon);
    not_negative("weight decay", optimizer.weight_decay);
    below_one("momentum", optimizer.momentum);
    below_one("beta1", optimizer.beta1);
    below_one("beta2", optimizer.beta2);
    below_one("rho", optimizer.rho);
  }
  void throw_any() const {
    if (!findings_.empty()) throw ProgramError(fmt::format("settings: {}", fmt::join(findings_, "; ")));
  }

 private:
  std::vector<std::string> findings_;
};

}  // namespace

void check(const OptimizerSettings& settings) {
  Findings findings;
  findings.look_at(settings);
  findings.throw_any();
}

void check(const Settings& settings) {
  Findings findings;
  findings.at_least("epochs", 1, settings.epochs);
  findings.at_least("batch", 1, settings.batch);
  findings.at_least("eval batch", 1, settings.eval_batch);
  findings.at_least("patience", 0, settings.patience);
  findings.at_least("steps between checkpoints", 0, settings.checkpoint_every_steps);
  findings.at_least("epochs between decays", 1, settings.schedule.decay_every);
  findings.not_negative("learning rate", settings.learning_rate);
  findings.look_at(settings.optimizer);
  findings.require(settings.schedule.decay > 0 && settings.schedule.decay <= 1, "decay",
                   "a number above 0, at most 1", settings.schedule.decay);
  findings.throw_any();
}

}  // namespace hiaton::train
