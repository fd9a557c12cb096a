#include "ir/print_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "ir/names.h"

namespace hiaton::ir {
namespace {

/// As a literal that has this type wherever it stands beside others of its type.
std::string scalar_literal(const Value& value) {
  std::string text = to_string(value);
  const DType dtype = value.dtype();
  if (dtype == DType::U8 || dtype == DType::I32 || dtype == DType::F32) text += name_of(dtype);
  return text;
}

std::string tensor_literal(const Tensor& tensor, std::size_t axis, int64_t& next) {
  if (axis == tensor.dims().size()) return scalar_literal(element_of(tensor, next++));
  std::string text = "[";
  for (int64_t i = 0; i < tensor.dims()[axis]; ++i) {
    text += (i > 0 ? ", " : "") + tensor_literal(tensor, axis + 1, next);
  }
  return text + "]";
}

}  // namespace

std::string variant_name(const Type& data, std::size_t variant) {
  const std::string& name = data.data->variants[variant].name;
  if (is_tuple(data)) return name;
  const std::size_t bracket = data.data->name.find('[');
  return bracket == std::string::npos ? name : name + data.data->name.substr(bracket);
}

std::string literal(const Value& value, const Type& type) {
  if (is_string(type)) return quoted(value.string());
  if (value.is_data()) return variant_name(type, value.data().variant());
  if (!value.is_tensor()) return scalar_literal(value);
  int64_t next = 0;
  return tensor_literal(value.tensor(), 0, next);
}

std::string quoted(std::string_view content) {
  std::string text = "\"";
  const bool readable = is_utf8(content);
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7F || (byte > 0x7F && !readable)) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text += '"';
}

std::string declaration(const Type& data) {
  std::string variants;
  for (const Variant& variant : data.data->variants) {
    std::string fields;
    for (const Field& field : variant.fields) {
      fields += fmt::format("{}{}: {}", fields.empty() ? "" : ", ", field.name, to_string(field.type));
    }
    variants += (variants.empty() ? "" : " | ") + variant.name;
    if (!fields.empty()) variants += fmt::format("({})", fields);
  }
  return fmt::format("data {} = {}\n", data.data->name, variants);
}

std::string declaration(const Parameter& parameter) {
  std::string text = fmt::format("param {}: {}", parameter.name, to_string(parameter.type));
  if (!parameter.placement.empty()) text += fmt::format(" on {}", quoted(parameter.placement));
  if (parameter.initial != default_initializer(parameter.type.shape.size())) {
    text += " = " + to_string(parameter.initial);
  }
  return text + '\n';
}

bool Names::is_free(const std::string& name) const {
  return is_name_for_made(name) && !reserved_.contains(name) && !taken_.contains(name);
}

/// A parameter of the function hides a learned one of its name.
std::string gradient_text(const Module& module, const GradientRequest& request) {
  const Function& of = module[request.of];
  std::string list;
  for (const GradientForm::By& by : request.form.wrt) {
    if (!list.empty()) list += ", ";
    if (!by.is_learned) {
      list += std::to_string(by.number);
      continue;
    }
    const std::string& name = module.parameters[by.number].name;
    const auto hides = [&](const ValueInfo& param) { return param.name == name; };
    list += (std::any_of(of.params.begin(), of.params.end(), hides) ? "param " : "") + name;
  }
  if (request.form.wrt.size() > 1) list = fmt::format("({})", list);
  return fmt::format("{}({}{}{})", name_of(request.form.kind), of.name, list.empty() ? "" : ", wrt=", list);
}

}  // namespace hiaton::ir
