// The random body of one function.
#pragma once

#include <optional>
#include <vector>

#include "hiaton/builder.h"
#include "properties/generate.h"
#include "properties/random_choices.h"

namespace hiaton::properties {

/// A function that is declared, and what one call of it costs: calls and iterations, its own included.
struct Signature {
  FunctionRef ref;
  std::vector<DType> params;
  std::vector<DType> results;
  std::optional<std::size_t> fuel;  ///< the parameter that bounds its recursion
  uint64_t cost = 1;                ///< what a call costs; with fuel: without its calls with less fuel
  uint64_t recursive_calls = 0;     ///< how many calls with less fuel one call makes at most
};

/// What the bodies of one program share.
struct Plan {
  Danger danger = Danger::None;
  int size = 0;                      ///< about how many nodes are still to be made
  std::vector<Signature> plain;      ///< functions that are defined and do not call themselves
  std::vector<Signature> with_fuel;  ///< functions that call each other with less fuel

  /// The calls and iterations of a call of a function with this much fuel, at most.
  uint64_t cost_of(int fuel) const;
  /// The most fuel that costs no more than `cost`; -1 where even none costs more.
  int affordable_fuel(uint64_t cost) const;
};

class BodyMaker {
 public:
  /// Fills in what a call of `self` costs: at most `most_cost`, calls with less fuel aside.
  BodyMaker(Random& random, Plan& plan, Signature& self, FunctionBuilder& builder, uint64_t most_cost);

  Vars make();

 private:
  Vars guarded_by_fuel();
  void call_in_front();
  Vars block(const std::vector<DType>& types);
  void statement();
  void add_to_scope(const Vars& vars);

  Var expression(DType type, int depth);
  Var leaf(DType type);
  std::optional<Var> in_scope(DType type);
  Var constant(DType type);

  Var operation(DType type, int depth);
  std::optional<Var> repeated(DType type);
  Var guarded(const OpDef& op, const std::vector<Var>& operands);
  Var short_circuit(int depth);

  std::optional<Vars> call(int depth);
  std::optional<Vars> call_with_fuel(int depth);
  Vars call(const Signature& callee, std::optional<Var> fuel, int depth);
  Var less_fuel();
  Var at_most(Var value, int64_t most);

  Vars branch(const std::vector<DType>& types);
  Vars branches_that_call();
  std::optional<Vars> loop();
  Vars counting_while(DType counter, int start, int trips);
  Vars counting_for(DType counter, int start, int trips);
  Var limit(DType type, int most);
  std::vector<Var> initial_state(int least);
  Vars next_state(const std::vector<DType>& types);

  bool may(Danger danger) const { return plan_.danger == danger || plan_.danger == Danger::Any; }
  bool spend(uint64_t cost);
  std::vector<DType> some_types(int least, int most);

  Random& random_;
  Plan& plan_;
  Signature& self_;
  FunctionBuilder& f_;
  std::vector<Var> scope_;
  std::vector<Var> conditions_;   ///< of the branches around what is made
  std::optional<Var> fuel_left_;  ///< set where it is known to be positive
  uint64_t most_cost_;
  uint64_t cost_left_;
  uint64_t most_recursive_calls_;
  uint64_t trips_ = 1;  ///< how often at most the code at hand runs in one call
  int nesting_ = 0;
};

}  // namespace hiaton::properties
