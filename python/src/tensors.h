// Tensors as Python sees them, and what operations take as one.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string_view>
#include <vector>

#include "hiaton/op.h"
#include "hiaton/value.h"

namespace hiaton::python {

namespace nb = nanobind;

/// `hiaton.Tensor`: a tensor, or a scalar as a tensor of rank 0. Never a data value.
struct EagerTensor {
  Value value;
  uint64_t mark = 0;  ///< what tapes know it by; 0: none does

  std::span<const int64_t> dims() const {
    if (!value.is_tensor()) return {};
    const TensorObject& object = *value.slot().tensor;
    return {object.dims.data(), object.rank};
  }
  const std::byte* elements() const {
    if (!value.is_tensor()) return reinterpret_cast<const std::byte*>(&value.slot());
    return value.slot().tensor->elements;
  }
  int64_t size() const {
    int64_t product = 1;
    for (const int64_t dim : dims()) product *= dim;
    return product;
  }
};

/// `hiaton.DType`.
struct ElementType {
  DType dtype;
};

nb::object to_object(EagerTensor tensor);
inline nb::object to_object(Value value) {
  return to_object(EagerTensor{std::move(value)});
}
/// A scalar as a number of Python.
nb::object number_object(const Value& scalar);

/// What stands for an element type: a DType, a name as "f32", bool, int, float, or what NumPy knows.
DType dtype_of(nb::handle object);

/// A tensor that shares the memory of an array of NumPy or of any other that knows DLPack, which it keeps
/// alive. Throws TypeError for element types that there are not, ValueError where the elements are not
/// contiguous. Nothing where the object is no array.
std::optional<Value> shared_array(nb::handle object);
/// The same for an operand, which is only read: elements that are not contiguous are copied.
std::optional<Value> array_operand(nb::handle object);

/// An argument of an operation: a Python number takes the element type of the tensors beside it.
struct Operand {
  Value value;  ///< a weak operand is an i64 or an f64
  bool weak = false;
  uint64_t mark = 0;  ///< as of a tensor
};
inline Operand operand_of(const EagerTensor& tensor) {
  return {tensor.value, false, tensor.mark};
}
/// Nothing where the object is neither a number nor an array.
std::optional<Operand> operand_of(nb::handle object);

/// Applies an operation after giving all operands one element type, as the Array API standard says: within
/// the integers and within the floats the wider one; a Python number takes that of the tensors.
EagerTensor apply_promoted(const OpDef& op, std::span<const Operand> operands,
                           std::span<const int64_t> attributes = {});

/// Whether any tape of this thread wants to know of operations.
bool tapes_run();
/// Returns a mark for a parameter of a module.
uint64_t new_parameter_mark();
/// Applies an operation so that tapes see it. `marks`: of the operands, by number; none where no tape runs.
EagerTensor apply_marked(const OpDef& op, std::span<const Value> operands, std::span<const uint64_t> marks,
                         std::span<const int64_t> attributes = {});
EagerTensor apply_eager(const OpDef& op, std::span<const EagerTensor> operands,
                        std::span<const int64_t> attributes = {});

/// A part of a tensor by a key of Python: integers, slices, `...`, `None`, or one tensor of row numbers.
EagerTensor part_of(const EagerTensor& tensor, nb::handle key);

void bind_dtypes(nb::module_& m);
void bind_tensors(nb::module_& m);
void bind_exchange(nb::module_& m, nb::class_<EagerTensor>& tensor);
void bind_operators(nb::class_<EagerTensor>& tensor);
void bind_operations(nb::module_& m);
void bind_errors(nb::module_& m);
void bind_data(nb::module_& m);
void bind_programs(nb::module_& m);
void bind_learning(nb::module_& m);
void bind_events(nb::module_& m);
void bind_interrupts(nb::module_& m);
void bind_forks(nb::module_& m);

}  // namespace hiaton::python
