#include "hiaton/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/check.h"
#include "hiaton/error.h"
#include "hiaton/thread_pool.h"
#include "train/update_loops.h"

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
    case OptimizerKind::AdamW:
      return {"mean", "square"};
    case OptimizerKind::RmsProp:
      return settings.momentum != 0 ? std::vector<std::string_view>{"square", "velocity"}
                                    : std::vector<std::string_view>{"square"};
  }
  return {};
}

AdamScalars<double> adam_scalars(const OptimizerSettings& settings, uint64_t steps) {
  const auto t = static_cast<double>(steps);
  return {.beta1 = settings.beta1,
          .beta2 = settings.beta2,
          .epsilon = settings.epsilon,
          .mean_correction = 1 / (1 - std::pow(settings.beta1, t)),
          .root_square_correction = 1 / std::sqrt(1 - std::pow(settings.beta2, t))};
}

template <class T>
std::vector<T>& elements_of(Numbers& numbers) {
  if constexpr (std::is_same_v<T, float>) {
    return numbers.floats();
  } else {
    return numbers.doubles();
  }
}

/// One step of all parameters.
class Step {
 public:
  Step(const OptimizerSettings& settings, std::vector<OptimizerSlot>& slots, uint64_t steps,
       double learning_rate, double gradient_scale, ThreadPool* pool)
      : settings_(settings),
        slots_(slots),
        scalars_{learning_rate, gradient_scale, settings.l2},
        pool_(pool) {
    if (settings.kind == OptimizerKind::Adam || settings.kind == OptimizerKind::AdamW)
      adam_ = adam_scalars(settings, steps);
  }

  template <class T>
  void update(std::span<T> w, const Gradient& gradient, std::size_t index, std::size_t width,
              ElementRange own) {
    const UpdateScalars<T> rounded{static_cast<T>(scalars_.learning_rate),
                                   static_cast<T>(scalars_.gradient_scale), static_cast<T>(scalars_.l2)};
    const T* g = std::get<std::span<T>>(gradient.values).data();
    const std::vector<int64_t>& rows = gradient.rows;
    if (!gradient.sparse) {
      own.end = std::min(own.end, w.size());
      return run_in_ranges(pool_, own.end - own.begin, kPiece, [&](std::size_t begin, std::size_t end) {
        update_range(w.data(), g, index, own.begin + begin, own.begin + end, rounded);
      });
    }
    run_in_ranges(pool_, rows.size(), kPiece / (width + 1) + 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        const std::size_t begin = static_cast<std::size_t>(rows[k]) * width;
        update_range(w.data(), g, index, begin, begin + width, rounded);
      }
    });
  }

 private:
  template <class T>
  void update_range(T* w, const T* g, std::size_t index, std::size_t begin, std::size_t end,
                    const UpdateScalars<T>& scalars) {
    const std::size_t count = end - begin;
    const auto state = [&](std::size_t slot) {
      return elements_of<T>(slots_[slot].values[index]).data() + begin;
    };
    const auto epsilon = static_cast<T>(settings_.epsilon);
    const UpdateLoops<T>& loops = update_loops<T>();
    w += begin;
    g += begin;
    switch (settings_.kind) {
      case OptimizerKind::Sgd:
        if (slots_.empty()) return loops.sgd(w, g, count, scalars);
        return loops.momentum(w, g, state(0), count, scalars, static_cast<T>(settings_.momentum));
      case OptimizerKind::Adagrad:
        return loops.adagrad(w, g, state(0), count, scalars, epsilon);
      case OptimizerKind::RmsProp: {
        const auto rho = static_cast<T>(settings_.rho);
        if (slots_.size() == 1) return loops.rmsprop(w, g, state(0), count, scalars, rho, epsilon);
        return loops.rmsprop_momentum(w, g, state(0), state(1), count, scalars, rho, epsilon,
                                      static_cast<T>(settings_.momentum));
      }
      case OptimizerKind::AdamW:
        loops.shrink(w, count, 1 - scalars.learning_rate * static_cast<T>(settings_.weight_decay));
        [[fallthrough]];
      case OptimizerKind::Adam:
        const AdamScalars<T> adam{static_cast<T>(adam_.beta1), static_cast<T>(adam_.beta2), epsilon,
                                  static_cast<T>(adam_.mean_correction),
                                  static_cast<T>(adam_.root_square_correction)};
        return loops.adam(w, g, state(0), state(1), count, scalars, adam);
    }
  }

  const OptimizerSettings& settings_;
  std::vector<OptimizerSlot>& slots_;
  const UpdateScalars<double> scalars_;
  AdamScalars<double> adam_;
  ThreadPool* const pool_;
};

}  // namespace

Optimizer::Optimizer(const OptimizerSettings& settings, const std::vector<ParameterValues>& parameters)
    : settings_(settings) {
  check(settings);
  for (const std::string_view name : slot_names(settings)) {
    OptimizerSlot slot{name, {}};
    for (const ParameterValues& parameter : parameters)
      slot.values.emplace_back(parameter.values.dtype(), parameter.values.size());
    slots_.push_back(std::move(slot));
  }
}

void Optimizer::restore(std::vector<OptimizerSlot> slots, uint64_t steps) {
  HIATON_CHECK(slots.size() == slots_.size());
  slots_ = std::move(slots);
  steps_ = steps;
}

/// Whether they are those that the optimizer was made for, and each gradient is as large as its parameter.
void Optimizer::require_sizes(const std::vector<ParameterValues>& parameters,
                              std::span<const Gradient> gradients) const {
  if (gradients.size() != parameters.size()) {
    throw ProgramError(fmt::format("expected a gradient for each of {} parameters, found {}",
                                   parameters.size(), gradients.size()));
  }
  for (const OptimizerSlot& slot : slots_) {
    if (slot.values.size() == parameters.size()) continue;
    throw ProgramError(fmt::format("expected the {} parameters of the optimizer, found {}",
                                   slot.values.size(), parameters.size()));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterValues& parameter = parameters[i];
    if (!parameter.is_here) continue;
    const auto require = [&](std::string_view what, std::size_t found) {
      if (found == parameter.values.size()) return;
      throw ProgramError(fmt::format("expected {} of the {} elements of parameter '{}', found {}", what,
                                     parameter.values.size(), parameter.name, found));
    };
    require("a gradient", gradients[i].size());
    for (const OptimizerSlot& slot : slots_) require("a state", slot.values[i].size());
  }
}

void Optimizer::step(std::vector<ParameterValues>& parameters, std::span<const Gradient> gradients,
                     double learning_rate, double gradient_scale, ThreadPool* pool,
                     std::span<const ElementRange> own) {
  require_sizes(parameters, gradients);
  ++steps_;
  Step step(settings_, slots_, steps_, learning_rate, gradient_scale, pool);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].is_here) continue;
    Numbers& values = parameters[i].values;
    const auto width = static_cast<std::size_t>(parameters[i].row_width());
    const ElementRange elements = own.empty() ? ElementRange() : own[i];
    if (values.dtype() == DType::F32) {
      step.update(std::span(values.floats()), gradients[i], i, width, elements);
    } else {
      step.update(std::span(values.doubles()), gradients[i], i, width, elements);
    }
  }
}

double clip_factor(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1;
}

}  // namespace hiaton::train
