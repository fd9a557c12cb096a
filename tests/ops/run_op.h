// Operations run by hand: alone, and in batches.
#pragma once

#include <string>
#include <vector>

#include "hiaton/op.h"
#include "ops/naive.h"

namespace hiaton {

inline constexpr DType kDTypes[] = {DType::Bool, DType::U8, DType::I32, DType::I64, DType::F32, DType::F64};

/// All operations on scalars and tensors.
std::vector<const OpDef*> computing_operations();

/// "add f64 2.0 f64 3.0".
std::string text_of(const OpDef& op, const std::vector<Value>& operands);

Type type_of_result(const OpDef& op, const std::vector<Value>& operands,
                    const std::vector<int64_t>& attributes);

/// By the kernel on scalars where there is one for them, else by the one on tensors.
Outcome run_op(const OpDef& op, const std::vector<Value>& operands,
               const std::vector<int64_t>& attributes = {}, OverflowMode mode = OverflowMode::Wrap);

/// By the kernel on tensors in one call: operand k of instance i is operands[i][k], or operands[0][k] where
/// shared[k].
struct BatchOutcome {
  Fault fault = Fault::None;
  std::vector<Value> results;
};
BatchOutcome run_batch(const OpDef& op, const std::vector<std::vector<Value>>& operands,
                       const std::vector<bool>& shared, const std::vector<int64_t>& attributes);

}  // namespace hiaton
