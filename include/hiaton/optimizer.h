// The rules by which parameters are learned, for training loops of one's own.
//
//   std::vector<train::ParameterValues> parameters = train::first_parameters(model, seed);
//   train::Optimizer optimizer({.kind = train::OptimizerKind::AdamW}, parameters);
//   Gradients sums(model.parameters());
//   model.loss(batch, {.parameters = train::values_of(parameters), .gradients = &sums});
//   optimizer.step(parameters, train::gradients_in(sums), 1e-3, 1.0 / batch.size());
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hiaton/model.h"
#include "hiaton/train.h"

#pragma GCC visibility push(default)
namespace hiaton::train {

/// A number or a tensor that is to be learned. Throws ProgramError where it is not of f32 or f64.
ParameterValues parameter_of(std::string name, const Value& value);

/// The parameters of a model with their first values. Throws ProgramError where one is not of f32 or f64.
std::vector<ParameterValues> first_parameters(const Model& model, uint64_t seed);

/// A parameter as runs take it (RunOptions::parameters). A tensor is not copied: the parameter must outlive
/// the value. After each change of a parameter it is to be asked for anew, since a number is copied, and runs
/// keep what they made of the value before.
Value value_of(ParameterValues& parameter);
std::vector<Value> values_of(std::vector<ParameterValues>& parameters);

/// Fills parameters, by name, from a safetensors file, which may hold others besides. Throws ProgramError
/// where the file is damaged, lacks a parameter or has it of another type, or holds values that are not
/// finite; nothing is changed then.
void load_parameters(const std::filesystem::path& path, std::vector<ParameterValues>& parameters);

/// The gradient of one parameter, or of some of its rows where that of all others is zero.
struct Gradient {
  /// The elements, in the type of the parameter.
  using Values = std::variant<std::span<float>, std::span<double>>;

  bool sparse = false;
  /// As many elements as the parameter has, row by row, in memory that the gradient does not own.
  Values values;
  std::vector<int64_t> rows;  ///< sparse only: those that count, in increasing order

  std::size_t size() const {
    return std::visit([](const auto& elements) { return elements.size(); }, values);
  }
  /// The elements of a gradient of f32; it must be one.
  std::span<float> floats() const { return std::get<0>(values); }
};

/// A number that is f32 or f64, as a loss is.
double number_in(const Value& value);

/// What runs have gathered for a parameter, where it stands: until the sums are cleared.
Gradient gradient_in(Gradients& sums, std::size_t parameter);
/// The same for all parameters.
std::vector<Gradient> gradients_in(Gradients& sums);

/// Throws ProgramError where gradients are not one for each parameter, of the form that Gradient promises.
void check_form(std::span<const Gradient> gradients, const std::vector<ParameterValues>& parameters);

/// The Euclidean norm of all gradients together; not finite exactly where an element is not.
double norm_of(std::span<const Gradient> gradients, const std::vector<ParameterValues>& parameters);

/// What gradients of norm `norm` have to be multiplied with so that it is at most `limit`; a limit of 0 is
/// none.
double clip_factor(double norm, double limit);

/// One kind of state, as Adam's mean: one value for each element of each parameter.
struct OptimizerSlot {
  std::string_view name;
  std::vector<Numbers> values;  ///< by parameter; as many elements as it has, of its type
};

/// Some elements of a parameter, in the order in which they stand: all where nobody says less.
struct ElementRange {
  std::size_t begin = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
};

/// Changes parameters along their gradients. All that it remembers are the slots and the number of steps. Of
/// one thread at a time.
class Optimizer {
 public:
  /// For parameters of these sizes and types. Throws ProgramError where a setting makes no sense.
  /// `settings.clip` is left to the caller: norm_of and clip_factor.
  Optimizer(const OptimizerSettings& settings, const std::vector<ParameterValues>& parameters);

  /// One step, with `gradient_scale` times the gradients, which have the form that check_form wants, and
  /// finite values. The threads of a pool share the work; the result is the same. Of dense gradients only
  /// the elements that `own` names, by parameter, are read and followed; all where it is empty. Throws
  /// ProgramError where the numbers or sizes of parameters or gradients are others.
  void step(std::vector<ParameterValues>& parameters, std::span<const Gradient> gradients,
            double learning_rate, double gradient_scale, ThreadPool* pool = nullptr,
            std::span<const ElementRange> own = {});

  const OptimizerSettings& settings() const { return settings_; }
  const std::vector<OptimizerSlot>& slots() const { return slots_; }
  uint64_t steps() const { return steps_; }
  /// The state of one parameter, by slot, to be replaced where another process holds the parameter.
  Numbers& slot_values(std::size_t slot, std::size_t parameter) { return slots_[slot].values[parameter]; }
  /// Goes on from a state that slots() and steps() gave, for the same settings and parameters.
  void restore(std::vector<OptimizerSlot> slots, uint64_t steps);

 private:
  void require_sizes(const std::vector<ParameterValues>& parameters,
                     std::span<const Gradient> gradients) const;

  OptimizerSettings settings_;
  std::vector<OptimizerSlot> slots_;
  uint64_t steps_ = 0;
};

/// Writes the state of an optimizer alone, as a safetensors file, atomically.
void save_optimizer(const std::filesystem::path& path, const std::vector<ParameterValues>& parameters,
                    const Optimizer& optimizer, double learning_rate);

/// Fills the optimizer, and returns the learning rate that was saved with it. Throws ProgramError where the
/// file is damaged, is not from save_optimizer, or was made with an optimizer of another kind or other
/// parameters; nothing is changed then.
double load_optimizer(const std::filesystem::path& path, const std::vector<ParameterValues>& parameters,
                      Optimizer& optimizer);

}  // namespace hiaton::train
#pragma GCC visibility pop
