// What optimizers and schedules are set by: files, the command line and Python derive their lists from these.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "hiaton/train.h"

namespace hiaton::train {

/// By OptimizerKind.
inline constexpr std::array<std::string_view, 5> kOptimizerNames = {"sgd", "adagrad", "adam", "rmsprop",
                                                                    "adamw"};
/// By ScheduleKind.
inline constexpr std::array<std::string_view, 5> kScheduleNames = {"constant", "linear", "cosine", "step",
                                                                   "exponential"};

/// A number among OptimizerSettings.
struct OptimizerNumber {
  std::string_view name;  ///< in files and in Python; people read it with blanks, options with hyphens
  double OptimizerSettings::*member;
  std::span<const OptimizerKind> kinds;  ///< those that it changes something for; empty: all
  bool is_below_one;                     ///< else any number that is not negative
  std::string_view description;

  bool is_used_by(OptimizerKind kind) const {
    return kinds.empty() || std::ranges::find(kinds, kind) != kinds.end();
  }
};

/// All of them, in the order of files and of help texts.
std::span<const OptimizerNumber> optimizer_numbers();

}  // namespace hiaton::train
