#include "train/optimizer.h"

#include <cmath>

#include "base/check.h"
#include "hiaton/thread_pool.h"

namespace hiaton::train {
namespace {

/// Elements that a thread takes at once.
constexpr std::size_t kPiece = 16384;

std::vector<std::string_view> slot_names(const OptimizerSettings& settings) {
  switch (settings.kind) {
    case OptimizerKind::Sgd:
      return settings.momentum != 0 ? std::vector<std::string_view>{"velocity"}
                                    : std::vector<std::string_view>{};
    case OptimizerKind::Adagrad:
      return {"squares"};
    case OptimizerKind::Adam:
      return {"mean", "square"};
  }
  return {};
}

AdamScalars adam_scalars(const OptimizerSettings& settings, uint64_t steps) {
  const auto t = static_cast<double>(steps);
  return {.beta1 = static_cast<float>(settings.beta1),
          .beta2 = static_cast<float>(settings.beta2),
          .epsilon = static_cast<float>(settings.epsilon),
          .mean_correction = static_cast<float>(1 / (1 - std::pow(settings.beta1, t))),
          .root_square_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(settings.beta2, t)))};
}

}  // namespace

Optimizer::Optimizer(const OptimizerSettings& settings, const std::vector<ParameterValues>& parameters)
    : settings_(settings) {
  for (const std::string_view name : slot_names(settings)) {
    OptimizerSlot slot{name, {}};
    for (const ParameterValues& parameter : parameters)
      slot.values.emplace_back(parameter.values.size(), 0.0f);
    slots_.push_back(std::move(slot));
  }
}

void Optimizer::restore(std::vector<OptimizerSlot> slots, uint64_t steps) {
  HIATON_CHECK(slots.size() == slots_.size());
  slots_ = std::move(slots);
  steps_ = steps;
}

void Optimizer::step(std::vector<ParameterValues>& parameters, std::span<const Gradient> gradients,
                     double learning_rate, double gradient_scale, ThreadPool* pool) {
  ++steps_;
  if (settings_.kind == OptimizerKind::Adam) adam_ = adam_scalars(settings_, steps_);
  const UpdateScalars scalars{static_cast<float>(learning_rate), static_cast<float>(gradient_scale),
                              static_cast<float>(settings_.l2)};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    float* w = parameters[i].values.data();
    const float* g = gradients[i].values.data();
    const std::vector<int64_t>& rows = gradients[i].rows;
    if (!gradients[i].sparse) {
      run_in_pieces(pool, parameters[i].values.size(), kPiece,
                    [&](std::size_t begin, std::size_t end) { update_range(w, g, i, begin, end, scalars); });
      continue;
    }
    const auto width = static_cast<std::size_t>(parameters[i].row_width());
    run_in_pieces(pool, rows.size(), kPiece / (width + 1) + 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        const std::size_t begin = static_cast<std::size_t>(rows[k]) * width;
        update_range(w, g, i, begin, begin + width, scalars);
      }
    });
  }
}

void Optimizer::update_range(float* w, const float* g, std::size_t index, std::size_t begin, std::size_t end,
                             const UpdateScalars& scalars) {
  const std::size_t count = end - begin;
  const auto state = [&](std::size_t slot) { return slots_[slot].values[index].data() + begin; };
  const auto epsilon = static_cast<float>(settings_.epsilon);
  w += begin;
  g += begin;
  switch (settings_.kind) {
    case OptimizerKind::Sgd:
      if (slots_.empty()) return update_sgd(w, g, count, scalars);
      return update_momentum(w, g, state(0), count, scalars, static_cast<float>(settings_.momentum));
    case OptimizerKind::Adagrad:
      return update_adagrad(w, g, state(0), count, scalars, epsilon);
    case OptimizerKind::Adam:
      return update_adam(w, g, state(0), state(1), count, scalars, adam_);
  }
}

double clip_factor(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1;
}

}  // namespace hiaton::train
