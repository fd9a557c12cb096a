// Gradients of data values: what they are made of, and the functions that add them up.
//
// The gradient of a value of type T is a value of Gradient[T] (DataTypes::gradient_of): all zero, or the
// gradients of the fields that hold floats. As zero is a value of its own, a gradient is as large as the part
// of the value that was read, and not as the value: a list is differentiated in linear time. Sums, and values
// of T with gradients in the place of floats, are made by recursive functions of the module.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hiaton/builder.h"

namespace hiaton::passes {

class DataGradients {
 public:
  explicit DataGradients(ModuleBuilder& builder) : builder_(builder) {}

  /// The type of the gradients of values of `type`, which holds floats.
  Type type_of(const Type& type) { return builder_.module().data_types.gradient_of(type); }
  /// The gradient of a value that nothing depends on.
  Var zero(Var value);
  /// The sum of two gradients of one type.
  Var sum(Var a, Var b);
  /// The gradient of a data value of type `of` and of the variant, by fields; those that are left out are
  /// zero.
  using Fields = std::vector<std::pair<std::size_t, Var>>;
  Var make(FunctionBuilder& f, const Type& of, std::size_t variant, const Fields& fields);
  /// The part of the gradient of a data value of type `of` and of the variant that is the gradient of the
  /// field, which has the value `value`.
  Var field(Var gradient, const Type& of, std::size_t variant, std::size_t field, Var value);
  /// A value of the value's own type: its structure, with gradients in the place of floats. All else is
  /// copied.
  Var as_value(Var value, Var gradient);

 private:
  /// Where a field stands among those that hold floats.
  static std::size_t place_of(const Type& data, std::size_t variant, std::size_t field);
  FunctionRef function(const std::string& wish, const std::vector<Type>& params, const Type& result,
                       const std::function<Var(FunctionBuilder&)>& body);
  Var sum_of_variant(FunctionBuilder& f, Var a, Var b, std::size_t variant);
  Var value_of_variant(FunctionBuilder& f, Var value, Var gradient, std::size_t variant);

  ModuleBuilder& builder_;
  std::map<std::string, FunctionRef> made_;  ///< by what they do and for which type
};

}  // namespace hiaton::passes
