// Function types whose values are data: what stands in lists and fields, is a result or comes out of a
// branch.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hiaton/builder.h"
#include "lang/diagnostics.h"

namespace hiaton::lang {

struct FunctionHead;

/// `fn(f64) -> f64`: a data type with one variant for each function that becomes a value of it, which holds
/// what that function takes along. A call is a call of one function, which tells the variants apart.
struct FunctionType {
  struct Target {
    FunctionRef function;
    std::vector<Type> captured;  ///< further arguments of each call
  };
  Type type;
  std::vector<Type> params;
  Type result;
  std::vector<Target> targets{};        ///< by variant
  const FunctionHead* call = nullptr;   ///< what calls a value, where one is called
  std::optional<FunctionRef> caller{};  ///< what calls a value, as a function of the module
};

class FunctionTypes {
 public:
  FunctionTypes(DataTypes& types, Diagnostics& diagnostics) : types_(types), diagnostics_(diagnostics) {}

  /// The same type for the same parameters and result.
  FunctionType& of(const std::vector<Type>& params, const Type& result);
  /// nullptr where it is no function type.
  FunctionType* find(const Type& type) const;
  /// The variant for a function that takes values of these types along. `name` is that of the function.
  std::size_t variant(FunctionType& type, const FunctionType::Target& target, const std::string& name);
  /// Gives the variants names that the text of a program may have, after all of them are known. Types of
  /// which no value is made get a variant all the same.
  void finish();
  std::deque<FunctionType>& all() { return all_; }
  /// The type itself, or that of a part of its values, however deep.
  bool is_inside(const Type& type) const;
  /// Whether values of the type hold floats beside those that their functions take along.
  bool holds_floats_beside(const Type& type) const;
  /// These are names of variants that the program declares.
  void reserve(std::string_view variant) { taken_.insert(std::string(variant)); }

 private:
  std::string free_variant(const std::string& wanted);

  DataTypes& types_;
  Diagnostics& diagnostics_;
  std::deque<FunctionType> all_;
  std::unordered_map<const DataType*, FunctionType*> by_type_;
  std::unordered_map<std::string, FunctionType*> by_text_;
  std::unordered_set<std::string> taken_;
};

/// Takes gradients of function values apart that are themselves among these values: `grad(l.f)(x)` where some
/// function that `l.f` may be takes `grad(l.f)` too.
///
/// The gradient of what calls a value is derived from all that it may call. Where one of these takes that
/// gradient, it would be derived from itself. Instead, each gradient is derived from copies of these
/// functions whose own gradients are derived from further copies; the last ones end the run, with an error at
/// the place where the gradient is asked for: `places`, by the function that is made for it.
void separate_nested_gradients(ModuleBuilder& builder, FunctionTypes& types,
                               const std::unordered_map<std::size_t, Span>& places);

}  // namespace hiaton::lang
