// The options of the training loop.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/train.h"

namespace hiaton::cli {

/// Options and the settings that they fill; must outlive the parsing.
class TrainingOptions {
 public:
  void add_to(CLI::App& command);

  train::Settings settings() const { return over(given_); }
  /// `base`, with the settings whose options were given. Throws UsageError where an option was given that
  /// changes nothing under the other settings.
  train::Settings over(train::Settings base) const;

 private:
  /// `member` tells where in Settings the value of the option belongs.
  template <typename Member>
  CLI::Option* add(CLI::App& command, const std::string& name, const Member& member,
                   const std::string& description);
  /// `names` are those of the kinds, in their order; they outlive the options.
  template <typename Member>
  void add_kind(CLI::App& command, const std::string& name, std::span<const std::string_view> names,
                const Member& member, const std::string& description);

  /// The option has an effect under some of the settings only.
  void needs(CLI::Option* option, std::string wanted,
             std::function<bool(const train::Settings& settings)> is_used);
  void add_optimizer(CLI::App& command);
  void add_schedule(CLI::App& command);

  struct Override {
    CLI::Option* option;
    std::function<void(const train::Settings& from, train::Settings& to)> copy;
  };
  struct Need {
    CLI::Option* option;
    std::string wanted;  ///< the options that it goes with
    std::function<bool(const train::Settings& settings)> is_used;
  };

  train::Settings given_;
  std::vector<Override> overrides_;
  std::vector<Need> needs_;
};

}  // namespace hiaton::cli
