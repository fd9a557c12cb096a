#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/product_of_sizes.h"
#include "hiaton/op.h"
#include "hiaton/tensor.h"

namespace hiaton {

const KernelVariant* OpDef::find_kernel(DType operand) const {
  for (const KernelVariant& variant : kernels) {
    if (variant.operand == operand) return &variant;
  }
  return nullptr;
}

bool OpDef::can_fail(DType operand, OverflowMode mode) const {
  const KernelVariant* variant = find_kernel(operand);
  if (variant == nullptr) return false;
  return mode == OverflowMode::Trap ? variant->trap_can_fail : variant->wrap_can_fail;
}

bool OpDef::takes_attributes(std::size_t count) const {
  std::size_t single = 0;
  for (const AttributeDef& attribute : attributes) single += attribute.is_list ? 0 : attribute.count;
  const bool has_list = !attributes.empty() && attributes.back().is_list;
  return has_list ? count >= single : count == single;
}

std::vector<std::string> OpDef::attribute_texts(std::span<const int64_t> integers) const {
  std::vector<std::string> texts;
  for (const AttributeDef& attribute : attributes) {
    const std::span<const int64_t> own = attribute.is_list ? integers : integers.first(attribute.count);
    integers = integers.subspan(own.size());
    const bool is_one = !attribute.is_list && std::ranges::count(own, own.front()) == std::ssize(own);
    texts.push_back(is_one ? fmt::format("{}={}", attribute.name, own.front())
                           : fmt::format("{}=[{}]", attribute.name, fmt::join(own, ", ")));
  }
  return texts;
}

namespace {

/// Whether the dimensions that are known leave room for it in some address space.
bool may_have_memory(const Shape& shape) {
  constexpr uint64_t kMostElements = uint64_t{1} << 44;  // of 8 bytes: what a 64-bit process can address
  if (std::find(shape.begin(), shape.end(), Dim{.size = 0, .symbol = ""}) != shape.end()) return true;
  const auto least_size = [](const Dim& dim) { return dim.size < 0 ? 1 : dim.size; };
  return product_of_sizes(1, shape, kMostElements, least_size).has_value();
}

}  // namespace

void OpDef::require_room(const Type& type) {
  if (type.shape.size() > kMaxRank) {
    throw ProgramError(
        fmt::format("expected a result of at most {} dimensions, found {}", kMaxRank, to_string(type)));
  }
  if (!may_have_memory(type.shape)) {
    throw ProgramError(fmt::format("expected a result that fits into memory, found {}", to_string(type)));
  }
}

Catalog::Catalog(std::vector<const OpDef*> ops) : ops_(std::move(ops)) {
  for (const OpDef* op : ops_) by_name_.emplace(op->name.value, op);
}

const OpDef* Catalog::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const OpDef* Catalog::find_symbol(std::string_view symbol, std::size_t arity) const {
  auto found = std::find_if(ops_.begin(), ops_.end(), [&](const OpDef* op) {
    return !symbol.empty() && op->symbol == symbol && op->arity() == arity;
  });
  return found == ops_.end() ? nullptr : *found;
}

}  // namespace hiaton
