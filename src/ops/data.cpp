// Operations on data values, and on values of any kind.
#include <fmt/format.h>

#include "hiaton/builder.h"
#include "ops/family.h"
#include "ops/gradients.h"

namespace hiaton::ops {
namespace {

/// A value of a data type does not tell its type, which the kernels need: programs in tests/ have the
/// samples.
const std::vector<Sample> no_samples{};

const DataType& data_type(const Type* type) {
  if (type == nullptr || !type->is_data()) {
    throw ProgramError(
        fmt::format("expected a data type, found {}", type == nullptr ? "none" : to_string(*type)));
  }
  return *type->data;
}

std::size_t index_in(int64_t index, std::size_t count, std::string_view what) {
  if (index >= 0 && static_cast<std::size_t>(index) < count) return static_cast<std::size_t>(index);
  throw ProgramError(fmt::format("there is no {} {}", what, index));
}

Type make_type(const TypeQuestion& question) {
  const DataType& data = data_type(question.declared);
  const std::size_t index = index_in(question.attributes[0], data.variants.size(), "variant");
  const Variant& variant = data.variants[index];
  if (variant.fields.size() != question.operands.size()) {
    throw ProgramError(fmt::format("{} has {} fields, found {} values", variant.name, variant.fields.size(),
                                   question.operands.size()));
  }
  for (std::size_t i = 0; i < variant.fields.size(); ++i) {
    const Field& field = variant.fields[i];
    if (compatible(field.type, question.operands[i])) continue;
    throw ProgramError(fmt::format("field '{}' of {}: expected {}, found {}", field.name, variant.name,
                                   to_string(field.type), to_string(question.operands[i])));
  }
  return *question.declared;
}

Type variant_type(const TypeQuestion& question) {
  data_type(&question.operands[0]);
  return DType::I64;
}

Type type_of_field(const TypeQuestion& question) {
  const DataType& data = data_type(&question.operands[0]);
  const std::size_t variant = index_in(question.attributes[0], data.variants.size(), "variant");
  const std::size_t field = index_in(question.attributes[1], data.variants[variant].fields.size(), "field");
  return field_type(question.operands[0], variant, field);
}

/// The field of a gradient; of the gradient of a tensor, the tensor.
Type type_of_field_or_zero(const TypeQuestion& question) {
  const Type field = type_of_field(question);
  const bool is_data = field.is_data() && !is_gradient_of_tensor(field);
  if (question.operands.size() == (is_data ? 1u : 2u)) return is_data ? field : question.operands[1];
  throw ProgramError(
      fmt::format("expected a value 'like' for a scalar or tensor and none for data, found {} "
                  "for a field of type {}",
                  question.operands.size() - 1, to_string(field)));
}

Type type_of_pass_after(const TypeQuestion& question) {
  for (const Type& signal : question.operands.subspan(1)) {
    if (!signal.is_data()) continue;
    throw ProgramError(fmt::format("expected a number or a tensor to wait for, found {}", to_string(signal)));
  }
  return question.operands[0];
}

/// What it waits for does not change it.
Var gradient_of_pass_after(const GradientQuestion& question, std::size_t index) {
  return index == 0 ? question.gradient : zeros_of(question, index);
}

Fault first_operand(std::span<const Value> operands, std::span<const int64_t>, Value& result) {
  result = operands[0];
  return Fault::None;
}

Fault make_value(std::span<const Value> operands, std::span<const int64_t> attributes, Value& result) {
  result = Data(static_cast<uint32_t>(attributes[0]), operands);
  return Fault::None;
}

Fault variant_of(std::span<const Value> operands, std::span<const int64_t>, Value& result) {
  result = int64_t{operands[0].data().variant()};
  return Fault::None;
}

Fault field_of(std::span<const Value> operands, std::span<const int64_t> attributes, Value& result) {
  const Data data = operands[0].data();
  if (data.variant() != attributes[0]) return Fault::Index;
  result = data.field(static_cast<std::size_t>(attributes[1]));
  return Fault::None;
}

/// Zeros for a tensor, a number, or a data value that is the gradient of one.
Value zero_like(std::span<const Value> like) {
  if (like.empty()) return Data(0, {});
  return like[0].is_tensor() ? Value(Tensor(like[0].dtype(), like[0].tensor().dims()))
                             : zero_of(like[0].dtype());
}

Fault field_or_zero_of(std::span<const Value> operands, std::span<const int64_t> attributes, Value& result) {
  const Data gradient = operands[0].data();
  if (gradient.variant() != 0 && gradient.variant() != attributes[0]) return Fault::Index;
  result = gradient.variant() == 0 ? zero_like(operands.subspan(1))
                                   : gradient.field(static_cast<std::size_t>(attributes[1]));
  if (operands.size() == 1 || !result.is_data()) return Fault::None;
  const Data tensor = result.data();
  result = tensor.variant() == 0 ? zero_like(operands.subspan(1)) : tensor.field(0);
  return Fault::None;
}

}  // namespace

std::span<const OpDef> data() {
  static const OpDef all[] = {
      {
          .name = "make",
          .doc = "A data value of the variant with this number, from its fields.",
          .operands = {"fields..."},
          .attributes = {{.name = "variant"}},
          .type_rule = make_type,
          .takes_type = true,
          .tensor_kernel = nullptr,
          .value_kernel = make_value,
          .gradient = Gradient::between_fields(),
          .fusion = Fusion::Data,
          .role = Role::Make,
          .samples = no_samples,
      },
      {
          .name = "variant",
          .doc = "The number of the variant that a data value is.",
          .operands = {"data"},
          .type_rule = variant_type,
          .tensor_kernel = nullptr,
          .value_kernel = variant_of,
          .gradient = Gradient::none("the result is an integer"),
          .fusion = Fusion::Data,
          .role = Role::Variant,
          .samples = no_samples,
      },
      {
          .name = "field",
          .doc = "A field of a data value that is of the variant with this number.",
          .operands = {"data"},
          .attributes = {{.name = "variant"}, {.name = "field"}},
          .type_rule = type_of_field,
          .tensor_kernel = nullptr,
          .value_kernel = field_of,
          .gradient = Gradient::between_fields(),
          .fusion = Fusion::Data,
          .role = Role::Field,
          .samples = no_samples,
      },
      {
          .name = "field_or_zero",
          .doc = "A field of the gradient of a data value of the variant with this number: zeros where "
                 "all of the gradient is zero, like the other operand where the field is no data.",
          .operands = {"gradient", "like..."},
          .attributes = {{.name = "variant"}, {.name = "field"}},
          .type_rule = type_of_field_or_zero,
          .tensor_kernel = nullptr,
          .value_kernel = field_or_zero_of,
          .gradient = Gradient::between_fields(),
          .fusion = Fusion::Data,
          .role = Role::FieldOrZero,
          .samples = no_samples,
      },
      {
          .name = "pass_after",
          .doc = "x itself, once the signals have come, which are numbers or tensors.",
          .operands = {"x", "signals..."},
          .type_rule = type_of_pass_after,
          .tensor_kernel = nullptr,
          .value_kernel = first_operand,
          .gradient = gradient_of_pass_after,
          .fusion = Fusion::Data,
          .role = Role::PassAfter,
          .samples = no_samples,
      },
      {
          .name = "stop_gradient",
          .doc = "x itself. Gradients take it for a constant.",
          .operands = {"x"},
          .type_rule = any_type,
          .tensor_kernel = nullptr,
          .value_kernel = first_operand,
          .gradient = Gradient::none("this is what it is for"),
          .fusion = Fusion::Data,
          .role = Role::PassAfter,
          .samples = no_samples,
      },
  };
  return all;
}

}  // namespace hiaton::ops
