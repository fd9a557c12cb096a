// Learning rates over the steps.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "hiaton/train.h"

namespace hiaton::train {
namespace {

/// What a schedule without a warm-up makes of a learning rate of 1.
double factor_at(const Schedule& schedule, uint64_t step, uint64_t steps_per_epoch, double progress) {
  const auto every = static_cast<uint64_t>(std::max<int64_t>(schedule.decay_every, 1));
  switch (schedule.kind) {
    case ScheduleKind::Constant:
      return 1;
    case ScheduleKind::Linear:
      return 1 - progress;
    case ScheduleKind::Cosine:
      return (1 + std::cos(std::numbers::pi * progress)) / 2;
    case ScheduleKind::Step: {
      const auto falls = step / steps_per_epoch / every;
      return std::pow(schedule.decay, static_cast<double>(falls));
    }
    case ScheduleKind::Exponential: {
      const double epochs_done = static_cast<double>(step) / static_cast<double>(steps_per_epoch);
      return std::pow(schedule.decay, epochs_done / static_cast<double>(every));
    }
  }
  return 1;
}

}  // namespace

double learning_rate_at(const Schedule& schedule, double initial, uint64_t step, uint64_t steps_per_epoch,
                        uint64_t epochs) {
  const auto warmup = static_cast<uint64_t>(std::max<int64_t>(schedule.warmup, 0));
  const uint64_t all_steps = steps_per_epoch * epochs;
  const uint64_t falling = all_steps > warmup ? all_steps - warmup : 1;
  const uint64_t fallen = step > warmup ? step - warmup : 0;
  const double progress = std::min(static_cast<double>(fallen) / static_cast<double>(falling), 1.0);
  const double grown = step < warmup ? static_cast<double>(step + 1) / static_cast<double>(warmup) : 1;
  return initial * grown * factor_at(schedule, step, std::max<uint64_t>(steps_per_epoch, 1), progress);
}

}  // namespace hiaton::train
