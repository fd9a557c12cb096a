// Learning rates over the steps.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "hiaton/train.h"

namespace hiaton::train {

double learning_rate_at(const Schedule& schedule, double initial, uint64_t step, uint64_t steps_per_epoch,
                        uint64_t epochs) {
  const auto all_steps = static_cast<double>(std::max<uint64_t>(steps_per_epoch * epochs, 1));
  const double progress = std::min(static_cast<double>(step) / all_steps, 1.0);
  const uint64_t epoch = step / std::max<uint64_t>(steps_per_epoch, 1);
  const auto every = static_cast<uint64_t>(std::max<int64_t>(schedule.decay_every, 1));
  const uint64_t drops = epoch / every;
  switch (schedule.kind) {
    case ScheduleKind::Constant:
      return initial;
    case ScheduleKind::Linear:
      return initial * (1 - progress);
    case ScheduleKind::Cosine:
      return initial * (1 + std::cos(std::numbers::pi * progress)) / 2;
    case ScheduleKind::Step:
      return initial * std::pow(schedule.decay, static_cast<double>(drops));
    case ScheduleKind::Exponential: {
      const double epochs_done =
          static_cast<double>(step) / static_cast<double>(std::max<uint64_t>(steps_per_epoch, 1));
      return initial * std::pow(schedule.decay, epochs_done / static_cast<double>(every));
    }
  }
  return initial;
}

}  // namespace hiaton::train
