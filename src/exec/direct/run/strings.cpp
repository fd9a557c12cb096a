// Operations on strings: a string is a data value whose only field is the tensor of its code points.
#include "tensor/strings.h"

#include <array>

#include "exec/direct/run/take_apart.h"
#include "exec/direct/run/tensors.h"

namespace hiaton::exec::direct {
namespace {

/// The header of a new string, with one reference to it.
uint64_t header_of_strings() {
  static const uint64_t header = [] {
    const uint64_t layout = FieldLayout(field_kinds(string_type().data->variants[0])).code();
    return layout | uint64_t{1} << 16 | uint64_t{1} << 32;
  }();
  return header;
}

}  // namespace

/// Makes strings in the memory of a worker.
class TensorMachine::Strings : public StringMaker {
 public:
  /// `owned`: the first operand, where the operation lets go of it.
  Strings(TensorMachine& machine, DataObject* first, bool is_owned)
      : machine_(machine), first_(first), is_owned_(is_owned) {}

  int32_t* make(std::size_t count) override { return make(count, count); }

  /// Where the operation owns the first operand, it leaves room for as much again: whoever appends piece by
  /// piece copies each code point a few times only.
  int32_t* extend_first(std::size_t count) override {
    const bool is_last = is_owned_ && DataCells::is_unique(first_);
    TensorObject* code_points = first_->slots()[0].tensor;
    const auto first_count = static_cast<std::size_t>(code_points->dims[0]);
    if (is_last && TensorCells::may_be_reused(code_points) &&
        count * sizeof(int32_t) <= static_cast<RunTensor*>(code_points)->room) {
      code_points->dims[0] = static_cast<int64_t>(count);
      made_ = first_;
      return elements(code_points) + first_count;
    }
    int32_t* to = make(count, is_last ? 2 * count : count);
    if (to == nullptr) return nullptr;
    std::copy_n(elements(code_points), first_count, to);
    return to + first_count;
  }

  DataObject* made() const { return made_; }
  bool took_first() const { return made_ == first_; }

 private:
  static int32_t* elements(TensorObject* code_points) {
    return reinterpret_cast<int32_t*>(code_points->elements);
  }

  int32_t* make(std::size_t count, std::size_t room) {
    const std::array dims = {static_cast<int64_t>(count)};
    RunTensor* code_points = machine_.cells.make(DType::I32, dims, room * sizeof(int32_t));
    if (code_points == nullptr) return nullptr;
    DataObject* cell = machine_.strings->make(1);
    if (cell == nullptr) {
      machine_.cells.release(code_points);
      return nullptr;
    }
    set_header(cell, header_of_strings());
    cell->slots()[0].tensor = code_points;
    made_ = cell;
    return elements(code_points);
  }

  TensorMachine& machine_;
  DataObject* const first_;
  const bool is_owned_;
  DataObject* made_ = nullptr;
};

Fault TensorMachine::run_string(const TensorOperation& operation, const Slot* slots, Slot& result) {
  constexpr std::size_t kMostOperands = 3;
  std::array<Slot, kMostOperands> operands;
  const std::size_t count = operation.operands.size();
  for (std::size_t i = 0; i < count; ++i) operands[i] = slots[operation.operands[i].slot];
  const TensorOperation::Operand& first = operation.operands[0];
  Strings strings(*this, operands[0].data, first.takes);
  Slot scalar;
  const Fault fault = operation.op->string_kernel(
      {operands.data(), first.is_tensor ? FieldKind::Tensor : field_kind(first.dtype), scalar, strings});
  if (fault != Fault::None) return fault;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_result = i == 0 && strings.took_first() && strings.made() != nullptr;
    if (!operation.operands[i].takes || is_result) continue;
    if (operation.operands[i].is_tensor) {
      cells.release(operands[i].tensor);
    } else {
      this->strings->release(operands[i].data);
    }
  }
  if (strings.made() != nullptr) scalar.data = strings.made();
  result = scalar;
  return Fault::None;
}

}  // namespace hiaton::exec::direct
