#include "train/optimizer.h"

#include <cmath>

#include "base/check.h"

namespace hiaton::train {
namespace {

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

Optimizer::Optimizer(const OptimizerSettings& settings, const std::vector<Parameter>& parameters)
    : settings_(settings) {
  for (const std::string_view name : slot_names(settings)) {
    OptimizerSlot slot{name, {}};
    for (const Parameter& parameter : parameters) slot.values.emplace_back(parameter.values.size(), 0.0f);
    slots_.push_back(std::move(slot));
  }
}

void Optimizer::restore(std::vector<OptimizerSlot> slots, uint64_t steps) {
  HIATON_CHECK(slots.size() == slots_.size());
  slots_ = std::move(slots);
  steps_ = steps;
}

void Optimizer::step(std::vector<Parameter>& parameters, std::span<const Gradient> gradients,
                     double learning_rate, double gradient_scale) {
  ++steps_;
  if (settings_.kind == OptimizerKind::Adam) adam_ = adam_scalars(settings_, steps_);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    update(parameters[i], i, gradients[i], learning_rate, gradient_scale);
  }
}

void Optimizer::update(Parameter& parameter, std::size_t index, const Gradient& gradient,
                       double learning_rate, double gradient_scale) {
  float* w = parameter.values.data();
  const float* g = gradient.values.data();
  if (!gradient.sparse) {
    update_range(w, g, index, 0, parameter.values.size(), learning_rate, gradient_scale);
    return;
  }
  const auto width = static_cast<std::size_t>(parameter.row_width());
  for (std::size_t i = 0; i < gradient.rows.size(); ++i) {
    const std::size_t offset = static_cast<std::size_t>(gradient.rows[i]) * width;
    update_range(w + offset, g + i * width, index, offset, width, learning_rate, gradient_scale);
  }
}

void Optimizer::update_range(float* w, const float* g, std::size_t index, std::size_t offset,
                             std::size_t count, double learning_rate, double gradient_scale) {
  const UpdateScalars scalars{static_cast<float>(learning_rate), static_cast<float>(gradient_scale),
                              static_cast<float>(settings_.l2)};
  const auto epsilon = static_cast<float>(settings_.epsilon);
  switch (settings_.kind) {
    case OptimizerKind::Sgd:
      if (slots_.empty()) {
        update_sgd(w, g, count, scalars);
      } else {
        update_momentum(w, g, slot(0, index, offset), count, scalars, static_cast<float>(settings_.momentum));
      }
      return;
    case OptimizerKind::Adagrad:
      update_adagrad(w, g, slot(0, index, offset), count, scalars, epsilon);
      return;
    case OptimizerKind::Adam:
      update_adam(w, g, slot(0, index, offset), slot(1, index, offset), count, scalars, adam_);
      return;
  }
}

double clip_factor(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1;
}

}  // namespace hiaton::train
