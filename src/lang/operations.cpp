#include "lang/operations.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace hiaton::lang {
namespace {

constexpr std::pair<Tok, std::string_view> kInfix[] = {
    {Tok::Plus, "+"},    {Tok::Minus, "-"},      {Tok::Star, "*"},    {Tok::Slash, "/"},
    {Tok::Percent, "%"}, {Tok::At, "@"},         {Tok::Equal, "=="},  {Tok::NotEqual, "!="},
    {Tok::Less, "<"},    {Tok::LessEqual, "<="}, {Tok::Greater, ">"}, {Tok::GreaterEqual, ">="}};

bool keeps_type(const OpDef& op) {
  if (op.kernels.empty() || !op.attributes.empty() || op.is_variadic()) return false;
  return std::all_of(op.kernels.begin(), op.kernels.end(), [&](const KernelVariant& kernel) {
    const std::vector<Type> operands(op.arity(), kernel.operand);
    return op.type_rule.value({.operands = operands}) == Type(kernel.operand);
  });
}

/// The operations of the catalogue, in its order. They are described once: that calls a rule of types for
/// each kernel, which would take half of the time that a small program takes to parse.
const std::vector<Operation>& described() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> operations;
    for (const OpDef* op : catalog().all()) operations.push_back({op, keeps_type(*op), op->name.value});
    return operations;
  }();
  return all;
}

Operation describe(const OpDef* op) {
  HIATON_CHECK(op != nullptr);
  const auto found = std::find_if(described().begin(), described().end(),
                                  [&](const Operation& each) { return each.def == op; });
  HIATON_CHECK(found != described().end());
  return *found;
}

/// Without a definition where the catalogue has none of this name.
Operation optional(std::string_view name) {
  const OpDef* op = catalog().find(name);
  return op == nullptr ? Operation{.name = name} : describe(op);
}

}  // namespace

Operations::Operations(Symbols& symbols) : infix_(static_cast<std::size_t>(Tok::End)) {
  for (const Operation& operation : described()) {
    const Symbol symbol = symbols.intern(operation.name);
    by_symbol_.resize(std::max<std::size_t>(by_symbol_.size(), symbol + 1));
    by_symbol_[symbol] = operation;
  }
  for (const auto& [tok, text] : kInfix) {
    if (tok != Tok::At) infix_[static_cast<std::size_t>(tok)] = describe(catalog().find_symbol(text, 2));
  }
  infix_[static_cast<std::size_t>(Tok::At)] = optional("matmul");
  gather_ = optional("gather");
  at_ = optional("at");
  set_at_ = optional("set_at");
  stack_ = optional("stack");
  negation_ = describe(catalog().find_symbol("-", 1));
  logical_not_ = describe(catalog().find_symbol("not", 1));
}

bool takes_floats_alone(const OpDef& op) {
  return !op.is_variadic() && op.attributes.empty() && op.find_kernel(DType::F64) != nullptr &&
         op.find_kernel(DType::I64) == nullptr;
}

std::string_view spelling(Tok op) {
  if (op == Tok::And) return "and";
  if (op == Tok::Or) return "or";
  for (const auto& [tok, text] : kInfix) {
    if (tok == op) return text;
  }
  return "?";
}

}  // namespace hiaton::lang
