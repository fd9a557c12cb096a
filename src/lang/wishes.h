// What the surroundings of an expression want of it, and what is known of the values that come of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/builder.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// The type that the surroundings would like; only literals follow it, and lists and variants without a type
/// of their own.
using Wish = std::optional<Type>;
using Wishes = std::span<const Wish>;

inline bool known(Var var) {
  return var.id().valid();
}

/// Whether their number is known.
inline bool known(const Vars& vars) {
  return vars.size() > 0;
}

bool are_known(std::span<const Var> vars);

/// Whether their number is, and each of them.
bool all_known(const Vars& vars);

inline Vars unknown() {
  return Vars(std::vector<Var>());
}

std::vector<Wish> types_of(std::span<const Var> vars);

/// The type of a literal, or of several beside each other: what is wished, if that can hold them.
DType type_of_literal(Flex flex, const Wish& wish = std::nullopt);

/// "i64", "(i64, f64)"
std::string type_list(const Vars& vars);

/// Whether either may be the value of a branch: their types go together, or each goes with what is wished.
bool alike(const Vars& one, const Vars& other, Wishes wishes);

/// "; a 'let' or result of type f64[_] takes both", where they differ in sizes that nothing wished fixes.
std::string hint_at_sizes(const Vars& one, const Vars& other, Wishes wishes);

/// "; numbers in brackets are a tensor ...", where this may be what was meant.
std::string hint_at_type(std::string_view expected, const Type& found);

/// "fn(i64, ?) -> f64", as far as the types are known.
std::string text_of_function(std::span<const Wish> params, const std::optional<Type>& result);

/// "1 value", "2 values"
std::string count_of(std::size_t count, std::string_view thing);

}  // namespace hiaton::lang
