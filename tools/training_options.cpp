#include "training_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "choices.h"
#include "train/setting_names.h"

namespace hiaton::cli {
namespace {

using train::Settings;

constexpr const char* kTraining = "Training";

/// The optimizers that the number changes something for; none where it does for all.
std::vector<std::string_view> kinds_of(const train::OptimizerNumber& number) {
  std::vector<std::string_view> names;
  for (const train::OptimizerKind kind : number.kinds) names.push_back(name_of(kind));
  return names;
}

std::string description_of(const train::OptimizerNumber& number) {
  if (number.kinds.empty()) return std::string(number.description);
  return fmt::format("{} ({})", number.description, fmt::join(kinds_of(number), ", "));
}

}  // namespace

template <typename Member>
CLI::Option* TrainingOptions::add(CLI::App& command, const std::string& name, const Member& member,
                                  const std::string& description) {
  using Number = std::remove_cvref_t<decltype(member(given_))>;
  CLI::Option* option = command.add_option(name, member(given_), description)
                            ->type_name("N")
                            ->capture_default_str()
                            ->group(kTraining);
  if constexpr (std::is_arithmetic_v<Number>) option->check(any_number<Number>());
  overrides_.push_back({option, [member](const Settings& from, Settings& to) {
                          Settings copy = from;
                          member(to) = member(copy);
                        }});
  return option;
}

template <typename Member>
void TrainingOptions::add_kind(CLI::App& command, const std::string& name,
                               std::span<const std::string_view> names, const Member& member,
                               const std::string& description) {
  using Kind = std::remove_cvref_t<decltype(member(given_))>;
  const auto set = [this, names, member](const std::string& found) {
    const auto at = std::ranges::find(names, found);
    if (at != names.end()) member(given_) = static_cast<Kind>(at - names.begin());
  };
  CLI::Option* option = command.add_option_function<std::string>(name, set, description)
                            ->check(one_of({names.begin(), names.end()}))
                            ->type_name("NAME")
                            ->default_str(std::string(name_of(member(given_))))
                            ->group(kTraining);
  overrides_.push_back({option, [member](const Settings& from, Settings& to) {
                          Settings copy = from;
                          member(to) = member(copy);
                        }});
}

void TrainingOptions::needs(CLI::Option* option, std::string wanted,
                            std::function<bool(const Settings& settings)> is_used) {
  needs_.push_back({option, std::move(wanted), std::move(is_used)});
}

void TrainingOptions::add_optimizer(CLI::App& command) {
  add_kind(
      command, "--optimizer", train::kOptimizerNames, [](Settings & s) -> auto& { return s.optimizer.kind; },
      "How parameters follow their gradients");
  add(
      command, "--lr", [](Settings & s) -> auto& { return s.learning_rate; },
      "Learning rate, of the mean loss of a batch");
  for (const train::OptimizerNumber& number : train::optimizer_numbers()) {
    std::string name = fmt::format("--{}", number.name);
    std::ranges::replace(name, '_', '-');
    const auto member = [of = number.member](Settings & s) -> auto& {
      return s.optimizer.*of;
    };
    CLI::Option* option = add(command, name, member, description_of(number));
    needs(option, fmt::format("--optimizer={}", fmt::join(kinds_of(number), " or ")),
          [number](const Settings& s) { return number.is_used_by(s.optimizer.kind); });
  }
}

void TrainingOptions::add_schedule(CLI::App& command) {
  using train::Schedule;
  using train::ScheduleKind;
  const auto schedule = [](auto member) {
    return [member](Settings & s) -> auto& {
      return s.schedule.*member;
    };
  };
  const auto decays = [](const Settings& s) {
    return s.schedule.kind == ScheduleKind::Step || s.schedule.kind == ScheduleKind::Exponential;
  };
  add_kind(command, "--schedule", train::kScheduleNames, schedule(&Schedule::kind),
           "How the learning rate changes");
  add(command, "--warmup", schedule(&Schedule::warmup),
      "Steps at the beginning, in which the learning rate grows along a line; 0: none");
  needs(add(command, "--decay", schedule(&Schedule::decay), "Factor of the schedules step and exponential"),
        "--schedule=step or exponential", decays);
  needs(add(command, "--decay-every", schedule(&Schedule::decay_every), "Epochs for one such factor"),
        "--schedule=step or exponential", decays);
}

void TrainingOptions::add_to(CLI::App& command) {
  const auto setting = [](auto member) {
    return [member](Settings & s) -> auto& {
      return s.*member;
    };
  };
  add(command, "--epochs", setting(&Settings::epochs), "How often each example is seen");
  add(command, "--batch", setting(&Settings::batch), "Examples a step");
  add_optimizer(command);
  add_schedule(command);
  add(command, "--seed", setting(&Settings::seed), "Of first parameters and of the order of the examples");
  add(command, "--score", setting(&Settings::score),
      "What makes an epoch the best on dev: loss, or a number of metrics, min:NAME where lower is better; of "
      "trees the accuracy of all nodes or of each root")
      ->type_name("NAME")
      ->default_str("loss, of trees all");
  add(command, "--patience", setting(&Settings::patience),
      "Stop after N epochs without a better one; 0: never");
  add(command, "--checkpoint-every", setting(&Settings::checkpoint_every_steps),
      "Steps between checkpoints, besides those after epochs; 0: none");
}

Settings TrainingOptions::over(Settings base) const {
  for (const Override& entry : overrides_) {
    if (entry.option->count() > 0) entry.copy(given_, base);
  }
  for (const Need& need : needs_) require_effect(*need.option, need.is_used(base), need.wanted);
  return base;
}

}  // namespace hiaton::cli
