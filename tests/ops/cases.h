// Operands of many shapes for every operation, on which the tests of kernels, batches and gradients go.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/op.h"

namespace hiaton {

/// An operation with the types of its operands and its attributes. Integers are drawn from [0, limit), floats
/// from [low, high).
struct OpCase {
  std::string_view op;
  std::vector<Type> operands;
  std::vector<int64_t> attributes{};
  int64_t limit = 3;
  double low = 0.2;
  double high = 1.8;
};

inline Type f64(const std::vector<int64_t>& dims) {
  return tensor_type(DType::F64, dims);
}
inline Type i64(const std::vector<int64_t>& dims) {
  return tensor_type(DType::I64, dims);
}
inline Type booleans(const std::vector<int64_t>& dims) {
  return tensor_type(DType::Bool, dims);
}

/// Cases of the operations that are not elementwise.
inline std::vector<OpCase> listed_cases() {
  const Type scalar = DType::F64;
  const Type number = DType::I64;
  return {
      {"matmul", {f64({3}), f64({3, 2})}},
      {"matmul", {f64({4, 3}), f64({3, 2})}},
      {"matmul", {f64({4, 3}), f64({3})}},
      {"matmul", {f64({3}), f64({3})}},
      {"matmul", {f64({2, 4, 3}), f64({3, 2})}},
      {"matmul", {f64({2, 4, 3}), f64({2, 3, 5})}},
      {"matmul", {f64({4, 3}), f64({2, 3, 5})}},
      {"matmul", {f64({2, 1, 4, 3}), f64({3, 3, 2})}},
      {"matmul", {f64({3, 1, 2, 2}), f64({1, 2, 2, 3})}},
      {"matmul_nt", {f64({2, 1, 4, 3}), f64({3, 2, 3})}},
      {"matmul_tn", {f64({2, 1, 4, 3}), f64({3, 4, 2})}},
      {"matmul_nt", {f64({3}), f64({2, 3})}},
      {"matmul_nt", {f64({4, 3}), f64({2, 3})}},
      {"matmul_nt", {f64({2, 4, 3}), f64({2, 3})}},
      {"matmul_nt", {f64({2, 4, 3}), f64({2, 5, 3})}},
      {"matmul_tn", {f64({3}), f64({2})}},
      {"matmul_tn", {f64({4, 3}), f64({4, 2})}},
      {"matmul_tn", {f64({2, 4, 3}), f64({2, 4, 5})}},
      {"dot", {f64({5}), f64({5})}},
      {"dot", {f64({37}), f64({37})}},
      {"outer", {f64({3}), f64({4})}},
      {"einsum", {f64({2, 3}), f64({3, 4})}, {0, 1, -1, 1, 2, -1, 0, 2}},
      {"einsum", {f64({2, 3, 4}), f64({2, 4, 5})}, {0, 1, 2, -1, 0, 2, 3, -1, 3, 1, 0}},
      {"einsum", {f64({3, 3})}, {0, 0, -1}},
      {"einsum", {f64({3})}, {0, -1, 0, 0}},
      {"einsum", {f64({2, 3}), f64({4})}, {0, 1, -1, 2, -1, 2}},
      {"einsum", {f64({2, 2, 3}), f64({3, 2}), f64({2})}, {0, 0, 1, -1, 1, 2, -1, 0, -1, 2}},
      {"einsum", {scalar, f64({3})}, {-1, 0, -1, 0}},
      {"concat", {f64({2}), f64({3})}, {0}},
      {"concat", {f64({2, 3}), f64({2, 1}), f64({2, 2})}, {-1}},
      {"concat", {f64({2, 3}), f64({1, 3})}, {0}},
      {"concat", {f64({4})}, {0}},
      {"stack", {scalar, scalar, scalar}, {0}},
      {"stack", {f64({2, 3}), f64({2, 3})}, {1}},
      {"stack", {f64({2}), f64({2})}, {-1}},
      {"slice", {f64({5})}, {0, 1, 3}},
      {"slice", {f64({2, 5, 2})}, {1, 2, 2}},
      {"slice", {f64({2, 5})}, {-1, 0, 4}},
      {"slice_at", {f64({5}), number}, {0, 3}},
      {"slice_at", {f64({2, 5, 2}), number}, {1, 2}},
      {"slice_at", {f64({4, 3}), number}, {-2, 0}},
      {"slice_at_like", {f64({5}), number, f64({3})}, {0}},
      {"slice_at_like", {f64({2, 5}), number, f64({2, 2})}, {-1}},
      {"pad_at", {f64({3}), number, f64({5})}, {0}},
      {"pad_at", {f64({2, 2}), number, f64({2, 5})}, {1}},
      {"iota_like", {f64({5})}, {0}},
      {"iota_like", {f64({2, 3, 2})}, {-2}},
      {"take", {f64({3})}, {0, 1}},
      {"take", {f64({2, 3, 2})}, {1, 2}},
      {"take", {f64({2, 3})}, {-1, 0}},
      {"slice_half", {f64({5})}, {0, 0}},
      {"slice_half", {f64({5})}, {0, 1}},
      {"slice_half", {f64({2, 4, 3})}, {-2, 1}},
      {"slice_half", {f64({1, 2})}, {0, 0}},
      {"pad", {f64({3})}, {0, 1, 2}},
      {"pad", {f64({2, 3})}, {-1, 0, 2}},
      {"pad", {f64({2, 3})}, {0, 1, 0}},
      {"pad_like", {f64({2}), f64({5})}, {0, 2}},
      {"pad_like", {f64({2, 2}), f64({2, 5})}, {1, 1}},
      {"slice_like", {f64({5}), f64({2})}, {0, 2}},
      {"slice_like", {f64({2, 5}), f64({2, 2})}, {1, 1}},
      {"concat_part", {f64({5}), f64({2}), f64({3})}, {0, 1}},
      {"concat_part", {f64({2, 5}), f64({2, 2}), f64({2, 3})}, {1, 0}},
      {"sum_like", {f64({2, 3}), f64({3})}},
      {"sum_like", {f64({2, 3}), f64({2, 1})}},
      {"sum_like", {f64({2, 3, 4}), f64({1, 3, 1})}},
      {"sum_like", {f64({2, 3, 4}), f64({2, 1, 4})}},
      {"sum_like", {f64({2, 3}), scalar}},
      {"sum_like", {f64({2, 3}), f64({2, 3})}},
      {"sum_like", {f64({2, 1, 3}), f64({3})}},
      {"sum_like", {scalar, scalar}},
      {"broadcast_like", {f64({3}), f64({2, 3})}},
      {"broadcast_like", {f64({2, 1}), f64({2, 3})}},
      {"broadcast_like", {scalar, f64({2, 3})}},
      {"broadcast_to", {f64({3})}, {2, 3}},
      {"broadcast_to", {f64({2, 1, 1})}, {2, 3, 2}},
      {"broadcast_to", {scalar}, {2, 2}},
      {"expand_like", {scalar, f64({2, 3})}},
      {"expand_like", {f64({3}), f64({2, 3})}, {0}},
      {"expand_like", {f64({2}), f64({2, 3})}, {-1}},
      {"expand_like", {f64({3}), f64({2, 3, 4})}, {0, 2}},
      {"reshape", {f64({2, 3})}, {3, 2}},
      {"reshape", {f64({2, 3})}, {-1}},
      {"reshape", {f64({1})}},
      {"reshape", {scalar}, {1, 1}},
      {"reshape_like", {f64({2, 3}), f64({6})}},
      {"transpose", {f64({2, 3})}},
      {"transpose", {f64({2, 3, 4})}, {1, 2, 0}},
      {"transpose", {f64({2, 3, 4})}, {0, -1, 1}},
      {"size", {f64({2, 3})}, {1}},
      {"check_dimension", {f64({2, 0}), number}, {1}, 1},
      {"check_rows", {f64({2, 3})}, {}},
      {"check_shape", {f64({2, 3})}, {-1, 3}},
      {"check_shape", {f64({3})}, {3}},
      {"check_size", {f64({2, 3}), f64({3})}, {1, 0}},
      {"check_size", {f64({2}), f64({2, 3})}, {-1, 0}},
      {"gather", {f64({3, 2}), number}},
      {"gather", {f64({3}), number}},
      {"gather", {f64({3, 2}), i64({4})}},
      {"gather", {f64({3, 2, 2}), i64({2, 2})}},
      {"scatter_rows", {f64({2}), number, f64({3, 2})}},
      {"scatter_rows", {f64({4, 2}), i64({4}), f64({3, 2})}},
      {"scatter_rows", {scalar, number, f64({3})}},
      {"scatter_add", {f64({3, 2}), i64({4}), f64({4, 2})}},
      {"scatter_add", {f64({3}), number, scalar}},
      {"at", {f64({3}), number}, {0}},
      {"at", {f64({3, 4}), number, number}, {1}},
      {"set_at", {f64({3}), scalar, number}, {1}},
      {"at", {f64({3, 2}), number}, {0}},
      {"at", {f64({3, 4}), number, number}, {0}},
      {"at", {f64({3, 4, 2}), number, number}, {0}},
      {"set_at", {f64({3, 2}), f64({2}), number}, {0}},
      {"set_at", {f64({3, 4}), scalar, number, number}, {0}},
      {"set_at", {f64({3}), scalar, number}, {0}},
      {"append_row", {f64({3}), scalar}},
      {"append_row", {f64({2, 3}), f64({3})}},
      {"append_row", {f64({0, 2}), f64({2})}},
      {"drop_last_row", {f64({3})}},
      {"drop_last_row", {f64({2, 3})}},
      {"add_at", {f64({3}), scalar, number}, {1}},
      {"add_at", {f64({3, 2}), f64({2}), number}, {0}},
      {"add_at", {f64({3, 4}), scalar, number, number}, {0}},
      {"sum", {f64({2, 3, 4})}},
      {"sum", {f64({2, 3, 4})}, {1}},
      {"sum", {f64({2, 3, 4})}, {0, 1}},
      {"sum", {f64({2, 3, 4})}, {-1, 0}},
      {"sum", {f64({20})}, {0}},
      {"mean", {f64({2, 3})}},
      {"mean", {f64({2, 3, 4})}, {0, 2}},
      {"reduce_max", {f64({2, 3})}},
      {"reduce_max", {f64({2, 3, 4})}, {1}},
      {"reduce_max", {f64({2, 3, 4})}, {0, 2}},
      {"reduce_min", {f64({2, 3})}},
      {"reduce_min", {f64({2, 3, 4})}, {1}},
      {"reduce_min", {f64({2, 3, 4})}, {0, 2}},
      {"any", {booleans({2, 3})}},
      {"any", {booleans({2, 3, 4})}, {0, 2}},
      {"all", {booleans({2, 3})}},
      {"all", {booleans({2, 3, 2})}, {1}},
      {"cumsum", {f64({5})}, {-1}},
      {"cumsum", {f64({2, 3, 2})}, {1}},
      {"flip", {f64({5})}, {-1}},
      {"flip", {f64({2, 3, 2})}, {1}},
      {"tril", {f64({3, 4})}, {0}},
      {"tril", {f64({2, 4, 3})}, {-1}},
      {"triu", {f64({3, 4})}, {1}},
      {"triu", {f64({2, 4, 3})}, {-5}},
      {"sort", {f64({7})}, {0, -1}},
      {"sort", {f64({3, 4, 2})}, {1, 1}},
      {"argsort", {f64({7})}, {1, -1}},
      {"argsort", {f64({3, 4, 2})}, {0, 0}},
      {"top_k", {f64({7})}, {3, -1}},
      {"top_k", {f64({3, 4, 2})}, {2, 1}},
      {"top_k_indices", {f64({7})}, {7, -1}},
      {"top_k_indices", {f64({3, 4, 2})}, {1, 0}},
      {"take_along_axis", {f64({3}), i64({5})}, {-1}},
      {"take_along_axis", {f64({2, 3, 2}), i64({2, 4, 2})}, {1}},
      {"scatter_along_axis", {f64({5}), i64({5}), f64({3})}, {-1}},
      {"scatter_along_axis", {f64({2, 4, 2}), i64({2, 4, 2}), f64({2, 3, 2})}, {1}},
      {"one_hot", {number}, {3}},
      {"one_hot", {i64({2, 4})}, {5}},
      {"logsumexp", {f64({5})}},
      {"logsumexp", {f64({2, 3, 4})}, {0, 2}},
      {"logsumexp", {f64({2, 3})}, {1}},
      {"argmax", {f64({2, 3})}, {-1}},
      {"argmax", {f64({5})}, {0}},
      {"softmax", {f64({5})}, {-1}},
      {"softmax", {f64({3, 4})}, {0}},
      {"softmax_gradient", {f64({5}), f64({5})}, {-1}},
      {"softmax_gradient", {f64({3, 4}), f64({3, 4})}, {0}},
      {"log_softmax", {f64({5})}, {-1}},
      {"log_softmax", {f64({3, 4})}, {0}},
      {"log_softmax_gradient", {f64({5}), f64({5})}, {-1}},
      {"log_softmax_gradient", {f64({3, 4}), f64({3, 4})}, {0}},
      {"cross_entropy", {f64({3}), number}},
      {"cross_entropy", {f64({4, 3}), i64({4})}},
      {"cross_entropy", {f64({2, 2, 3}), i64({2, 2})}},
      {"cross_entropy_gradient", {f64({3}), number, scalar}},
      {"cross_entropy_gradient", {f64({4, 3}), i64({4}), f64({4})}},
      {"conv1d", {f64({2, 5}), f64({3, 2, 2})}, {1, 0, 1, 1}},
      {"conv1d", {f64({2, 4, 7}), f64({4, 2, 3})}, {2, 1, 2, 2}},
      {"conv1d_input_gradient", {f64({3, 4}), f64({3, 2, 2}), f64({2, 5})}, {1, 0, 1, 1}},
      {"conv1d_filter_gradient", {f64({3, 4}), f64({2, 5}), f64({3, 2, 2})}, {1, 0, 1, 1}},
      {"conv_transpose1d", {f64({3, 4}), f64({3, 2, 2})}, {2, 1, 1, 1, 1}},
      {"conv_transpose1d", {f64({2, 4, 3}), f64({4, 1, 3})}, {1, 0, 2, 2, 0}},
      {"conv2d", {f64({2, 4, 5}), f64({3, 2, 2, 3})}, {1, 1, 0, 0, 1, 1, 1}},
      {"conv2d", {f64({2, 1, 5, 5}), f64({2, 1, 3, 3})}, {2, 2, 1, 1, 1, 1, 1}},
      {"conv2d", {f64({2, 4, 5, 6}), f64({4, 2, 2, 3})}, {2, 1, 0, 2, 1, 2, 2}},
      {"conv2d_input_gradient", {f64({3, 3, 3}), f64({3, 2, 2, 3}), f64({2, 4, 5})}, {1, 1, 0, 0, 1, 1, 1}},
      {"conv2d_input_gradient",
       {f64({2, 2, 3, 3}), f64({2, 1, 3, 3}), f64({2, 1, 6, 5})},
       {2, 2, 1, 1, 1, 1, 1}},
      {"conv2d_filter_gradient", {f64({3, 3, 3}), f64({2, 4, 5}), f64({3, 2, 2, 3})}, {1, 1, 0, 0, 1, 1, 1}},
      {"conv2d_filter_gradient",
       {f64({2, 2, 3, 3}), f64({2, 1, 6, 5}), f64({2, 1, 3, 3})},
       {2, 2, 1, 1, 1, 1, 1}},
      {"conv_transpose2d", {f64({3, 3, 2}), f64({3, 2, 2, 3})}, {2, 1, 1, 0, 1, 1, 1, 1, 0}},
      {"conv_transpose2d", {f64({2, 4, 2, 3}), f64({4, 1, 2, 2})}, {1, 1, 0, 0, 1, 2, 2, 0, 0}},
      {"avg_pool2d", {f64({2, 5, 4})}, {2, 2, 2, 2, 0, 0}},
      {"avg_pool2d", {f64({2, 1, 4, 5})}, {3, 2, 1, 2, 1, 0}},
      {"avg_pool2d_gradient", {f64({2, 2, 2}), f64({2, 5, 4})}, {2, 2, 2, 2, 0, 0}},
      {"max_pool2d", {f64({2, 5, 4})}, {2, 2, 2, 2, 0, 0}},
      {"max_pool2d", {f64({2, 1, 4, 5})}, {3, 2, 1, 2, 1, 1}},
      {"take_largest2d", {f64({2, 5, 4}), f64({2, 5, 4})}, {2, 2, 2, 2, 0, 0}},
      {"take_largest2d_gradient", {f64({2, 5, 4}), f64({2, 2, 2})}, {2, 2, 2, 2, 0, 0}},
      {"normalize", {f64({5}), scalar}},
      {"normalize", {f64({3, 4}), scalar}, {1}},
      {"normalize", {f64({2, 3, 2}), scalar}, {0, 2}},
      {"normalize", {f64({3, 2, 2}), scalar}, {0}},
      {"layer_norm", {f64({4}), f64({4}), f64({4}), scalar}},
      {"layer_norm", {f64({2, 2, 3}), f64({3}), f64({3}), scalar}},
      {"batch_norm", {f64({4, 2}), f64({2}), f64({2}), scalar}},
      {"batch_norm", {f64({2, 3, 2}), f64({3}), f64({3}), scalar}},
      {"instance_norm", {f64({2, 2, 3}), f64({2}), f64({2}), scalar}},
      {"instance_norm", {f64({2, 1, 3, 2}), f64({1}), f64({1}), scalar}},
      {"repeat", {f64({3})}, {0, 2}},
      {"repeat", {f64({2, 3, 2})}, {1, 3}},
      {"repeat_gradient", {f64({2, 6}), f64({2, 3})}, {-1, 2}},
      {"reflect_pad", {f64({4})}, {0, 2, 3}},
      {"reflect_pad", {f64({2, 3, 2})}, {1, 1, 0}},
      {"reflect_pad_gradient", {f64({2, 6}), f64({2, 3})}, {-1, 2, 1}},
      {"segment_sum", {f64({4, 2}), i64({4})}, {3}},
      {"segment_sum", {f64({2}), number}, {3}},
      {"categorical", {f64({3}), number}},
      {"categorical", {f64({2, 2, 4}), number}},
      {"log_uniform", {number}, {7, 2, 3}},
      {"uniform", {number}, {5}},
      {"normal", {number}, {2, 3}},
      {.op = "dropout", .operands = {f64({2, 5}), scalar, number}, .low = 0.2, .high = 0.7},
  };
}

/// Shapes that broadcast in all the ways that matter, for so many operands.
inline std::vector<std::vector<std::vector<int64_t>>> broadcast_shapes(std::size_t arity) {
  if (arity == 1) return {{{}}, {{5}}, {{2, 3}}, {{2, 1, 17}}};
  if (arity == 2) {
    return {{{}, {}},         {{5}, {5}},          {{2, 3}, {3}},    {{3}, {2, 3}}, {{}, {4}},
            {{4}, {}},        {{2, 1}, {1, 3}},    {{2, 3}, {2, 1}}, {{1}, {1}},    {{2, 19}, {2, 19}},
            {{1, 3}, {2, 3}}, {{2, 1, 3}, {4, 1}}, {{1}, {}}};
  }
  return {{{}, {}, {}}, {{3}, {3}, {3}}, {{2, 1}, {1, 3}, {}}, {{}, {3}, {3}}, {{2, 3}, {3}, {2, 1}}};
}

/// Floats where the operation is smooth.
inline OpCase elementwise_case(const OpDef& op, std::vector<Type> operands) {
  OpCase made{.op = op.name.value, .operands = std::move(operands)};
  const std::string_view name = op.name.value;
  if (name == "asin" || name == "acos" || name == "atanh") made.high = 0.9;
  if (name == "acosh") made.low = 1.1;
  return made;
}

/// The types of an elementwise operation's operands.
inline std::vector<DType> operand_dtypes(const OpDef& op, DType dtype) {
  std::vector<DType> dtypes(op.arity(), dtype);
  if (op.name.value == "where") dtypes[0] = DType::Bool;
  return dtypes;
}

inline bool accepts(const OpDef& op, const std::vector<Type>& operands,
                    const std::vector<int64_t>& attributes) {
  try {
    op.type_rule.value({.operands = operands, .attributes = attributes});
    return true;
  } catch (const ProgramError&) {
    return false;
  }
}

/// The listed cases of an operation, with elements of this type instead of floats.
inline std::vector<OpCase> listed_cases_of(const OpDef& op, DType dtype) {
  std::vector<OpCase> cases;
  const bool are_floats = is_float(dtype);
  if (!are_floats && dtype != DType::U8) return cases;
  for (OpCase listed : listed_cases()) {
    if (listed.op != op.name.value) continue;
    for (Type& type : listed.operands) {
      if (is_float(type.dtype)) type.dtype = dtype;
    }
    if (!are_floats && !accepts(op, listed.operands, listed.attributes)) continue;
    cases.push_back(std::move(listed));
  }
  return cases;
}

/// The cases of an operation, for operands of this type.
inline std::vector<OpCase> cases_of(const OpDef& op, DType dtype = DType::F64) {
  std::vector<OpCase> cases = listed_cases_of(op, dtype);
  if (!cases.empty() || op.fusion.value != Fusion::Elementwise) return cases;
  const std::vector<DType> dtypes = operand_dtypes(op, dtype);
  for (const auto& shapes : broadcast_shapes(op.arity())) {
    std::vector<Type> operands;
    for (std::size_t i = 0; i < shapes.size(); ++i) operands.push_back(tensor_type(dtypes[i], shapes[i]));
    if (accepts(op, operands, {})) cases.push_back(elementwise_case(op, std::move(operands)));
  }
  return cases;
}

/// A reproducible sequence of operands.
class Draw {
 public:
  explicit Draw(uint64_t seed = 1) : state_(seed * 0x9E3779B97F4A7C15u) {}

  Value value(const Type& type, const OpCase& of) {
    if (type.is_scalar()) return element(type.dtype, of);
    std::vector<int64_t> dims;
    for (const Dim& dim : type.shape) dims.push_back(dim.size);
    Tensor made(type.dtype, dims);
    const std::size_t bytes = size_of(type.dtype);
    for (int64_t i = 0; i < made.size(); ++i) {
      const Slot slot = element(type.dtype, of).slot();
      std::copy_n(reinterpret_cast<const std::byte*>(&slot), bytes,
                  made.mutable_data<std::byte>() + i * static_cast<int64_t>(bytes));
    }
    return made;
  }
  std::vector<Value> operands(const OpCase& of) {
    std::vector<Value> values;
    for (const Type& type : of.operands) values.push_back(value(type, of));
    return values;
  }

 private:
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  Value element(DType dtype, const OpCase& of) {
    const double unit = static_cast<double>(next() >> 11) * 0x1p-53;
    const double real = of.low + unit * (of.high - of.low);
    const auto whole = static_cast<int64_t>(unit * static_cast<double>(of.limit));
    switch (dtype) {
      case DType::Bool:
        return unit < 0.5;
      case DType::U8:
        return static_cast<uint8_t>(whole);
      case DType::I32:
        return static_cast<int32_t>(whole);
      case DType::I64:
        return whole;
      case DType::F32:
        return static_cast<float>(real);
      case DType::F64:
        return real;
    }
    return {};
  }
  uint64_t state_;
};

}  // namespace hiaton
