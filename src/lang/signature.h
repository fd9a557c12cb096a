// What is called with attributes: an operation, or a form of the language.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hiaton/op.h"

namespace hiaton::lang {

/// How something that takes attributes is called. For as long as what it is made of lives.
struct Signature {
  Signature(const OpDef& op)  // NOLINT(google-explicit-constructor): an operation has one
      : name(op.name.value), operands(op.operands.value), attributes(op.attributes) {}
  Signature(std::string_view name, std::span<const std::string_view> operands,
            std::span<const AttributeDef> attributes)
      : name(name), operands(operands), attributes(attributes) {}

  std::string_view name;
  std::span<const std::string_view> operands;
  std::span<const AttributeDef> attributes;
};

/// "sum(a, axis=0)"
std::string to_string(const Signature& signature);

}  // namespace hiaton::lang
