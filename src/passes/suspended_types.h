// What the pass `suspend` works with, for programs whose values are computed on demand: functions of one
// result, the operation that settles a suspension, and types: suspensions, data values with suspended fields,
// and the functions between these and what they stand for.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hiaton/builder.h"
#include "hiaton/ir.h"
#include "hiaton/op.h"

namespace hiaton::passes {

/// Makes several results of functions and branches one, a tuple. Returns the functions that the entry
/// reaches, each with one result; those of the entry stay. Nothing calls the entry then. The module must be
/// free of loops and phases.
ir::Module single_results(const ir::Module& module);

/// The operation that fills in what a suspension was made for. It is in no catalogue: only this pass makes
/// it, and only direct code runs it.
///
/// settle(value, suspension): gives the value, and makes it what the suspension holds from then on, in its
/// place in memory. Attribute: the variant that the suspension is of; variant 0 holds a value.
const OpDef& settle_operation();

/// Which fields of data values are suspended: those that some place of the program gives something that is
/// not computed yet.
class SuspendedFields {
 public:
  bool is_suspended(const Type& data, std::size_t variant, std::size_t field) const {
    const auto fields = fields_.find(data.data.get());
    return fields != fields_.end() && fields->second.contains({variant, field});
  }
  /// False where it is known already.
  bool add(const Type& data, std::size_t variant, std::size_t field) {
    return fields_[data.data.get()].insert({std::pair(variant, field), true}).second;
  }
  bool has_any(const DataType* data) const { return fields_.contains(data); }

 private:
  std::unordered_map<const DataType*, std::map<std::pair<std::size_t, std::size_t>, bool>> fields_;
};

/// Makes types and functions in the module of `builder` as they are asked for. Types that it is given are
/// those of another module, types that it gives are of its own.
class SuspendedTypes {
 public:
  SuspendedTypes(ModuleBuilder& builder, const SuspendedFields& fields)
      : builder_(builder), fields_(fields) {}

  /// The same type, of the module that is made.
  Type own(const Type& type);
  /// What stands for a computed value of the type.
  Type computed(const Type& type);
  /// What stands for one that may be still to be computed.
  Type suspended(const Type& type);
  /// Returns a suspension that holds the value, which is of computed(type).
  Var hold(FunctionBuilder& f, Var value, const Type& type);
  /// A suspension of a call, which gives computed(type).
  Var suspend(FunctionBuilder& f, FunctionRef callee, const std::vector<Var>& arguments, const Type& type);
  /// What a suspension of the type holds, computed where it was not.
  Var demand(FunctionBuilder& f, Var suspension, const Type& type);
  /// Returns the value, which is given to the program, as functions take it.
  Var from_outside(FunctionBuilder& f, Var value, const Type& type);
  /// Returns the computed value as the program gives it, with all that it holds computed too.
  Var to_outside(FunctionBuilder& f, Var value, const Type& type);
  /// Gives the functions that were asked for their bodies.
  void finish();

 private:
  struct Suspension {
    Type type;   ///< the type of the suspension
    Type value;  ///< computed
    FunctionRef demand;
    std::vector<FunctionRef> callees;  ///< by variant; the first is none
    std::vector<std::size_t> arguments;
  };

  bool is_changed(const Type& type);
  Suspension& suspension_of(const Type& type);
  std::size_t variant_of(Suspension& suspension, FunctionRef callee, const std::vector<Var>& arguments);
  void define_demand(const Suspension& suspension);
  Vars demanded(FunctionBuilder& f, const Suspension& suspension, Var number, std::size_t begin,
                std::size_t end);
  FunctionRef function_from_outside(const Type& type);
  Vars each_variant(FunctionBuilder& f, const Type& type, const Type& to,
                    const std::function<Var(Var, const Type&, bool)>& convert);
  std::string name_for(const std::string& verb, const Type& type) const;

  ModuleBuilder& builder_;
  const SuspendedFields& fields_;
  std::unordered_map<const DataType*, bool> changed_;
  std::unordered_map<const DataType*, Type> computed_;
  std::deque<Suspension> suspensions_;
  std::map<std::string, Suspension*> by_name_;  ///< suspensions, by the name of the computed type
  std::map<const DataType*, FunctionRef> from_outside_;
  std::map<const DataType*, FunctionRef> to_outside_;
  std::deque<std::function<void()>> to_define_;
};

}  // namespace hiaton::passes
