// The options of the training loop.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

#include "hiaton/train.h"

namespace hiaton::cli {

/// Options and the settings that they fill; must outlive the parsing.
class TrainingOptions {
 public:
  void add_to(CLI::App& command);

  const train::Settings& settings() const { return given_; }
  /// `base`, with the settings whose options were given.
  train::Settings over(train::Settings base) const;

 private:
  /// `member` tells where in Settings the value of the option belongs.
  template <typename Member>
  CLI::Option* add(CLI::App& command, const std::string& name, const Member& member,
                   const std::string& description);
  template <typename Kind, typename Member>
  void add_kind(CLI::App& command, const std::string& name, const std::vector<Kind>& kinds,
                const Member& member, const std::string& description);

  struct Override {
    CLI::Option* option;
    std::function<void(const train::Settings& from, train::Settings& to)> copy;
  };

  train::Settings given_;
  std::vector<Override> overrides_;
};

}  // namespace hiaton::cli
