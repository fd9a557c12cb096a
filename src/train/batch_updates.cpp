// Who of several processes has and updates what: the elements of large parameters, and those that are placed.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hiaton/error.h"
#include "train/batch_runner.h"
#include "train/shared_batches.h"
#include "train/timeline.h"

namespace hiaton::train {

/// Large ones. Where the processes are not near each other, it has to be worth a round more, if there is one:
/// two of them exchange all sums in one round, most of it while they compute, and new values would wait for
/// the network. Parameters of which runs use rows are divided by rows, unless runs use all of them too.
void BatchRunner::divide_parameters(const SharedBatches& sharing, bool are_near, bool clips) {
  constexpr int64_t kWorthARound = 1 << 20;
  std::vector<bool> has_rows(parameters_.size());
  std::vector<bool> has_all(parameters_.size());
  for (const graph::Node& node : model_.training_program().graph().nodes()) {
    if (node.kind != graph::NodeKind::Accumulate) continue;
    const bool are_rows = static_cast<Accumulation>(node.attributes[0]) == Accumulation::Rows;
    (are_rows ? has_rows : has_all)[static_cast<std::size_t>(node.parameter)] = true;
  }
  divided_.assign(parameters_.size(), DividedBy::Nothing);
  int64_t elements = 0;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const int64_t size = parameters_[i].row_count() * parameters_[i].row_width();
    if (size < static_cast<int64_t>(kLeastDivided) || (has_rows[i] && has_all[i])) continue;
    divided_[i] = has_rows[i] ? DividedBy::Rows : DividedBy::Elements;
    if (!has_rows[i]) elements += size;
  }
  const bool is_worth_it = are_near || (sharing.processes() > 2 && (!clips || elements >= kWorthARound));
  if (sharing.is_dealt() || sharing.group() > 1 || sharing.processes() == 1 || !is_worth_it) divided_.clear();
}

bool BatchRunner::is_divided(std::size_t parameter) const {
  return !divided_.empty() && sharing_->sums().is_divided(parameter);
}

std::vector<double> BatchRunner::squares(std::span<const Gradient> gradients) {
  if (!divided_.empty()) sharing_->exchange_sums();
  std::vector<double> squares;
  const bool computes = sharing_ == nullptr || sharing_->computes();
  for (std::size_t i = 0; computes && i < gradients.size(); ++i) {
    squares.push_back(is_divided(i) ? sharing_->sums().squares(i) : squares_of(gradients[i], parameters_[i]));
  }
  if (sharing_ == nullptr || sharing_->tables() == nullptr) return squares;
  squares = sharing_->gather(squares);
  squares.resize(gradients.size());
  return squares;
}

ElementRange BatchRunner::own_elements(std::size_t parameter) const {
  if (!is_divided(parameter) || divided_[parameter] == DividedBy::Rows) return {};
  const PartRange elements = sharing_->sums().own_elements(parameter);
  return {elements.begin, elements.end};
}

/// Where nothing depends on the norm, and all gradients are known to be finite, the squares are exchanged
/// together with the new values: a round less.
double BatchRunner::update(Optimizer& optimizer, std::span<const Gradient> gradients, const StepSizes& sizes,
                           const CheckSquares& check) {
  const auto norm = [&] {
    const std::vector<double> found = squares(gradients);
    check(found);
    return norm_of_squares(found) * sizes.scale;
  };
  if (sizes.clip == 0 && !divided_.empty() && sharing_->sums().are_small()) {
    update_by(optimizer, gradients, sizes.learning_rate, sizes.scale);
    return norm();
  }
  const double found = norm();
  update_by(optimizer, gradients, sizes.learning_rate, sizes.scale * clip_factor(found, sizes.clip));
  return found;
}

void BatchRunner::update_by(Optimizer& optimizer, std::span<const Gradient> gradients, double learning_rate,
                            double gradient_scale) {
  std::vector<ElementRange> own;
  for (std::size_t i = 0; i < gradients.size(); ++i) own.push_back(own_elements(i));
  optimizer.step(parameters(), gradients, learning_rate, gradient_scale, pool_, own);
  if (divided_.empty()) return;
  const Timeline::Slice slice = Timeline(run_.trace).slice("exchange of updates");
  sharing_->exchange_updates(parameters_);
}

void BatchRunner::keep_own(Optimizer* optimizer) {
  if (sharing_ == nullptr || sharing_->tables() == nullptr) return;
  values_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    ParameterValues& parameter = parameters_[i];
    parameter.is_here = sharing_->tables()->is_here(i);
    if (parameter.is_here) continue;
    const DType dtype = parameter.values.dtype();
    parameter.values = Numbers(dtype, 0);
    if (optimizer == nullptr) continue;
    for (std::size_t slot = 0; slot < optimizer->slots().size(); ++slot)
      optimizer->slot_values(slot, i) = Numbers(dtype, 0);
  }
}

void BatchRunner::bring_all(Optimizer& optimizer) {
  for (std::size_t i = 0; i < divided_.size(); ++i) {
    if (divided_[i] != DividedBy::Nothing) bring_divided(optimizer, i);
  }
  if (sharing_ == nullptr || sharing_->tables() == nullptr) return;
  values_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (sharing_->tables()->holders()[i]) bring_placed(optimizer, i);
  }
}

/// The state of the elements that the others update.
void BatchRunner::bring_divided(Optimizer& optimizer, std::size_t parameter) {
  const std::size_t element = size_of(parameters_[parameter].values.dtype());
  const auto rows = static_cast<std::size_t>(parameters_[parameter].row_count());
  const auto width = static_cast<std::size_t>(parameters_[parameter].row_width());
  for (std::size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
    const std::span<std::byte> state = optimizer.slot_values(slot, parameter).bytes();
    const auto for_each_part = [&](std::size_t process, const auto& act) {
      for_each_owned_range(
          divided_[parameter], process, sharing_->processes(), rows, width,
          [&](PartRange range) { act(state.subspan(range.begin * element, range.size() * element)); });
    };
    std::vector<std::byte> own;
    for_each_part(sharing_->self(),
                  [&](std::span<std::byte> part) { own.insert(own.end(), part.begin(), part.end()); });
    const std::vector<std::vector<std::byte>> brought = sharing_->collect(own);
    for (std::size_t process = 1; sharing_->self() == 0 && process < brought.size(); ++process) {
      std::size_t expected = 0;
      for_each_part(process, [&](std::span<std::byte> part) { expected += part.size(); });
      if (brought[process].size() != expected)
        throw ProgramError(fmt::format("expected {} bytes of the state of '{}', found {}", expected,
                                       parameters_[parameter].name, brought[process].size()));
      auto from = brought[process].cbegin();
      for_each_part(process, [&](std::span<std::byte> part) {
        std::copy_n(from, part.size(), part.begin());
        from += static_cast<std::ptrdiff_t>(part.size());
      });
    }
  }
}

void BatchRunner::bring_placed(Optimizer& optimizer, std::size_t index) {
  ParameterValues& parameter = parameters_[index];
  const auto size = static_cast<std::size_t>(parameter.row_count() * parameter.row_width());
  std::vector<Numbers*> state{&parameter.values};
  for (std::size_t slot = 0; slot < optimizer.slots().size(); ++slot)
    state.push_back(&optimizer.slot_values(slot, index));
  std::vector<std::byte> own;
  for (const Numbers* numbers : state)
    own.insert(own.end(), std::as_const(*numbers).bytes().begin(), std::as_const(*numbers).bytes().end());
  const std::vector<std::byte> brought = sharing_->bring(index, own);
  if (sharing_->self() != 0 || parameter.is_here) return;
  const std::size_t each = size * size_of(parameter.values.dtype());
  if (brought.size() != each * state.size())
    throw ProgramError(fmt::format("expected {} bytes of '{}' and its state, found {}", each * state.size(),
                                   parameter.name, brought.size()));
  for (std::size_t k = 0; k < state.size(); ++k) {
    *state[k] = Numbers(parameter.values.dtype(), size);
    if (each > 0) std::memcpy(state[k]->bytes().data(), brought.data() + k * each, each);
  }
}

}  // namespace hiaton::train
