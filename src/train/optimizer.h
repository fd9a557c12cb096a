// The update rules, and the state that they keep for each parameter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/train.h"
#include "train/gradient.h"
#include "train/update_loops.h"

namespace hiaton::train {

/// One kind of state, as Adam's mean: one value for each element of each parameter.
struct OptimizerSlot {
  std::string_view name;
  std::vector<Numbers> values;  ///< by parameter; as many elements as it has, of its type
};

/// Changes parameters along their gradients. All that it remembers are the slots and the number of steps.
class Optimizer {
 public:
  Optimizer(const OptimizerSettings& settings, const std::vector<ParameterValues>& parameters);

  /// One step, with `gradient_scale` times the gradients. They have the form that check_form wants, and
  /// finite values. The threads of a pool share the work; the result is the same.
  void step(std::vector<ParameterValues>& parameters, std::span<const Gradient> gradients,
            double learning_rate, double gradient_scale, ThreadPool* pool = nullptr);

  const OptimizerSettings& settings() const { return settings_; }
  const std::vector<OptimizerSlot>& slots() const { return slots_; }
  uint64_t steps() const { return steps_; }
  /// The state of one parameter, by slot, to be replaced where another process holds the parameter.
  Numbers& slot_values(std::size_t slot, std::size_t parameter) { return slots_[slot].values[parameter]; }
  /// Goes on from a state that slots() and steps() gave, for the same settings and parameters.
  void restore(std::vector<OptimizerSlot> slots, uint64_t steps);

 private:
  template <class T>
  void update(std::span<T> w, const Gradient& gradient, std::size_t index, std::size_t width,
              const UpdateScalars<double>& scalars, ThreadPool* pool);
  template <class T>
  void update_range(T* w, const T* g, std::size_t index, std::size_t begin, std::size_t end,
                    const UpdateScalars<T>& scalars);
  OptimizerSettings settings_;
  AdamScalars<double> adam_;  ///< scalars of the current step
  std::vector<OptimizerSlot> slots_;
  uint64_t steps_ = 0;
};

/// What gradients of norm `norm` have to be multiplied with so that it is at most `limit`; a limit of 0 is
/// none.
double clip_factor(double norm, double limit);

}  // namespace hiaton::train
