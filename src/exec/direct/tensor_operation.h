// What an instruction on tensors does: an operation with what is known of its operands before the run.
#pragma once

#include <cstdint>
#include <vector>

#include "hiaton/op.h"

namespace hiaton::exec::direct {

struct TensorOperation {
  enum class Code : uint8_t {
    Line,        ///< elements one by one, of operands of the result's shape
    View,        ///< the elements of the first operand in another shape
    Kernel,      ///< whatever the tensor kernel does
    String,      ///< whatever the string kernel does
    Element,     ///< one element of a tensor
    SetElement,  ///< a tensor with another value in the place of one element
    Append,      ///< one more row
    DropLast,    ///< one row less
    Size,        ///< the size along an axis
  };
  struct Operand {
    uint16_t slot;
    DType dtype;
    bool is_tensor;
    /// The operation lets go of the tensor or string, since nothing reads it after that.
    bool takes = false;
  };

  Code code = Code::Kernel;
  uint32_t number = 0;  ///< among those of the plan
  const OpDef* op = nullptr;
  Attributes attributes{};
  OverflowMode overflow = OverflowMode::Wrap;
  std::vector<Operand> operands{};
  LineKernel line = nullptr;
  Type type{};                  ///< the type of the result, as the graph declares it
  bool is_fixed = false;        ///< all shapes are known before the run
  std::vector<int64_t> dims{};  ///< the dimensions of the result, where they are known
  std::size_t axis = 0;         ///< of Code::Size
  bool from_end = false;        ///< negative numbers of elements count from the end
  int64_t size = 0;             ///< elements of the result, where they are known
  std::size_t bytes = 0;        ///< what they take
};

}  // namespace hiaton::exec::direct
