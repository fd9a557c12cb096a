#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/file_bytes.h"
#include "hiaton/error.h"
#include "train/json_records.h"
#include "train/setting_names.h"

namespace hiaton::train {
namespace {

using graph::JsonPlace;

constexpr std::array kMomentum = {OptimizerKind::Sgd, OptimizerKind::RmsProp};
constexpr std::array kAdams = {OptimizerKind::Adam, OptimizerKind::AdamW};
constexpr std::array kRmsProp = {OptimizerKind::RmsProp};
constexpr std::array kAdamW = {OptimizerKind::AdamW};
constexpr std::array kDivide = {OptimizerKind::Adagrad, OptimizerKind::Adam, OptimizerKind::RmsProp,
                                OptimizerKind::AdamW};

using Optimizer = OptimizerSettings;
constexpr std::array<OptimizerNumber, 8> kNumbers = {{
    {"momentum", &Optimizer::momentum, kMomentum, true, "Share of the last change that is made again"},
    {"beta1", &Optimizer::beta1, kAdams, true, "Decay of the mean gradient"},
    {"beta2", &Optimizer::beta2, kAdams, true, "Decay of the mean square"},
    {"rho", &Optimizer::rho, kRmsProp, true, "Decay of the mean square"},
    {"epsilon", &Optimizer::epsilon, kDivide, false,
     "Added to the root of the mean square, or of the sum of squares"},
    {"weight_decay", &Optimizer::weight_decay, kAdamW, false,
     "Each step makes a parameter smaller by N times the learning rate times itself"},
    {"l2", &Optimizer::l2, {}, false, "Adds N times the parameter to its gradient"},
    {"clip", &Optimizer::clip, {}, false, "Largest norm of the whole gradient; 0: no limit"},
}};

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
  std::vector<std::string_view> names{"kind"};
  for (const OptimizerNumber& number : kNumbers) names.push_back(number.name);
  place.require_fields(names);
  OptimizerSettings settings;
  settings.kind = kind_from<OptimizerKind>(place.field("kind"), kOptimizerNames);
  for (const OptimizerNumber& number : kNumbers) {
    // Files that were written before there were RMSProp and AdamW lack their settings.
    const bool may_lack = number.name == "rho" || number.name == "weight_decay";
    if (!may_lack || place.has(number.name)) settings.*number.member = place.field(number.name).real();
  }
  return settings;
}

Schedule schedule_from(const JsonPlace& place) {
  place.require_fields({"kind", "decay", "decay_every", "warmup"});
  return {.kind = kind_from<ScheduleKind>(place.field("kind"), kScheduleNames),
          .decay = place.field("decay").real(),
          .decay_every = place.field("decay_every").integer(1),
          // Files that were written before there was a warm-up lack it.
          .warmup = place.has("warmup") ? place.field("warmup").integer(0) : 0};
}

bool depends_on_the_last_epoch(const Schedule& schedule) {
  return schedule.kind == ScheduleKind::Linear || schedule.kind == ScheduleKind::Cosine;
}

}  // namespace

std::span<const OptimizerNumber> optimizer_numbers() {
  return kNumbers;
}

std::string_view name_of(OptimizerKind kind) {
  return kOptimizerNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(ScheduleKind kind) {
  return kScheduleNames[static_cast<std::size_t>(kind)];
}

OptimizerKind optimizer_kind_from(std::string_view name) {
  return kind_of_name<OptimizerKind>(name, kOptimizerNames);
}

ScheduleKind schedule_kind_from(std::string_view name) {
  return kind_of_name<ScheduleKind>(name, kScheduleNames);
}

nlohmann::ordered_json to_json(const OptimizerSettings& optimizer) {
  nlohmann::ordered_json json{{"kind", name_of(optimizer.kind)}};
  for (const OptimizerNumber& number : kNumbers) json[std::string(number.name)] = optimizer.*number.member;
  return json;
}

nlohmann::ordered_json to_json(const Settings& settings) {
  return {{"epochs", settings.epochs},
          {"batch", settings.batch},
          {"optimizer", to_json(settings.optimizer)},
          {"learning_rate", settings.learning_rate},
          {"schedule",
           {{"kind", name_of(settings.schedule.kind)},
            {"warmup", settings.schedule.warmup},
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
    for (const OptimizerNumber& number : kNumbers) {
      std::string name(number.name);
      std::ranges::replace(name, '_', ' ');
      const double value = optimizer.*number.member;
      number.is_below_one ? below_one(name, value) : not_negative(name, value);
    }
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
  findings.at_least("warmup", 0, settings.schedule.warmup);
  findings.not_negative("learning rate", settings.learning_rate);
  findings.look_at(settings.optimizer);
  findings.require(settings.schedule.decay > 0 && settings.schedule.decay <= 1, "decay",
                   "a number above 0, at most 1", settings.schedule.decay);
  findings.throw_any();
}

}  // namespace hiaton::train
