#include "training_options.h"

#include <algorithm>
#include <string>
#include <utility>

#include "choices.h"

namespace hiaton::cli {
namespace {

using train::Settings;

constexpr const char* kTraining = "Training";

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

template <typename Kind, typename Member>
void TrainingOptions::add_kind(CLI::App& command, const std::string& name, const std::vector<Kind>& kinds,
                               const Member& member, const std::string& description) {
  std::vector<std::string> names;
  for (const Kind kind : kinds) names.emplace_back(name_of(kind));
  const auto set = [this, kinds, names, member](const std::string& found) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (names[i] == found) member(given_) = kinds[i];
    }
  };
  CLI::Option* option = command.add_option_function<std::string>(name, set, description)
                            ->check(one_of(names))
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
  using train::OptimizerKind;
  using Optimizer = train::OptimizerSettings;
  const auto optimizer = [](auto member) {
    return [member](Settings & s) -> auto& {
      return s.optimizer.*member;
    };
  };
  const auto uses = [](const std::vector<OptimizerKind>& kinds) {
    return [kinds](const Settings& s) { return std::ranges::find(kinds, s.optimizer.kind) != kinds.end(); };
  };
  add_kind<OptimizerKind>(command, "--optimizer",
                          {OptimizerKind::Sgd, OptimizerKind::Adagrad, OptimizerKind::Adam,
                           OptimizerKind::RmsProp, OptimizerKind::AdamW},
                          optimizer(&Optimizer::kind), "How parameters follow their gradients");
  add(
      command, "--lr", [](Settings & s) -> auto& { return s.learning_rate; },
      "Learning rate, of the mean loss of a batch");
  needs(add(command, "--momentum", optimizer(&Optimizer::momentum), "For sgd and rmsprop"),
        "--optimizer=sgd or rmsprop", uses({OptimizerKind::Sgd, OptimizerKind::RmsProp}));
  needs(add(command, "--rho", optimizer(&Optimizer::rho), "Decay of the mean square of rmsprop"),
        "--optimizer=rmsprop", uses({OptimizerKind::RmsProp}));
  needs(add(command, "--weight-decay", optimizer(&Optimizer::weight_decay),
            "For adamw: each step makes a parameter smaller by N times the learning rate times itself"),
        "--optimizer=adamw", uses({OptimizerKind::AdamW}));
  const std::vector<OptimizerKind> adams{OptimizerKind::Adam, OptimizerKind::AdamW};
  needs(add(command, "--beta1", optimizer(&Optimizer::beta1), "Decay of the mean gradient of adam and adamw"),
        "--optimizer=adam or adamw", uses(adams));
  needs(add(command, "--beta2", optimizer(&Optimizer::beta2), "Decay of their mean square"),
        "--optimizer=adam or adamw", uses(adams));
  needs(add(command, "--epsilon", optimizer(&Optimizer::epsilon),
            "Added to the root of the mean square, or of the sum of squares of adagrad"),
        "another --optimizer than sgd",
        [](const Settings& s) { return s.optimizer.kind != OptimizerKind::Sgd; });
  add(command, "--l2", optimizer(&Optimizer::l2), "Adds N times the parameter to its gradient");
  add(command, "--clip", optimizer(&Optimizer::clip), "Largest norm of the whole gradient; 0: no limit");
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
  add_kind<ScheduleKind>(command, "--schedule",
                         {ScheduleKind::Constant, ScheduleKind::Linear, ScheduleKind::Cosine,
                          ScheduleKind::Step, ScheduleKind::Exponential},
                         schedule(&Schedule::kind), "How the learning rate changes");
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
