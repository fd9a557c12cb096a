#include "properties/body.h"

#include <algorithm>
#include <map>

#include "properties/random_choices.h"

namespace hiaton::properties {
namespace {

constexpr int kDeepestNesting = 4;

/// An operation for operands of one type.
struct Typed {
  const OpDef* op;
  DType operand;
};

/// The one kind of fault that the operation may run into without trapping overflow; Any for a kind that has
/// no programs of its own, None where it always succeeds.
Danger danger_of(const OpDef& op, DType operand) {
  if (!op.can_fail(operand, OverflowMode::Wrap)) return Danger::None;
  const std::string_view name = op.name.value;
  if (name == "div" || name == "rem" || name == "floor_div" || name == "floor_mod")
    return Danger::DivisionByZero;
  if (name == "assume") return Danger::Assumption;
  const DType result = op.type_rule.value({.operands = std::vector<Type>{operand}}).dtype;
  return is_float(operand) && is_integer(result) ? Danger::InvalidCast : Danger::Any;
}

/// All that the catalogue has.
const std::vector<Typed>& operations_giving(DType result) {
  static const auto all = [] {
    std::map<DType, std::vector<Typed>> by_result;
    for (const OpDef* op : catalog().all()) {
      for (const KernelVariant& kernel : op->kernels) {
        const std::vector<Type> operands(op->arity(), kernel.operand);
        by_result[op->type_rule.value({.operands = operands}).dtype].push_back({op, kernel.operand});
      }
    }
    return by_result;
  }();
  return all.at(result);
}

/// A program that is to run into one kind of fault draws the operations that have it more often than chance
/// would.
const Typed& drawn_operation(Random& random, Danger danger, DType type) {
  const std::vector<Typed>& all = operations_giving(type);
  const Typed& any = random.pick(all);
  if (danger == Danger::None || !random.percent(25)) return any;
  std::vector<const Typed*> wanted;
  for (const Typed& each : all) {
    if (danger_of(*each.op, each.operand) == danger) wanted.push_back(&each);
  }
  return wanted.empty() ? any : *random.pick(wanted);
}

DType dtype_of(Var value) {
  return value.type().dtype;
}

std::vector<DType> dtypes_of(const Vars& values) {
  std::vector<DType> types;
  for (const Var value : values) types.push_back(dtype_of(value));
  return types;
}

}  // namespace

uint64_t Plan::cost_of(int fuel) const {
  constexpr uint64_t kTooMuch = 1'000'000;
  uint64_t calls_of_each = 0;
  uint64_t cost_of_each = 1;
  for (const Signature& function : with_fuel) {
    calls_of_each = std::max(calls_of_each, function.recursive_calls);
    cost_of_each = std::max(cost_of_each, function.cost);
  }
  uint64_t calls = 1;
  uint64_t cost = 0;
  for (int level = 0; level <= fuel && cost < kTooMuch; ++level) {
    cost += calls * cost_of_each;
    calls *= calls_of_each;
  }
  return cost;
}

int Plan::affordable_fuel(uint64_t cost) const {
  constexpr int kMostFuel = 40;
  int fuel = -1;
  while (fuel < kMostFuel && cost_of(fuel + 1) <= cost) ++fuel;
  return fuel;
}

BodyMaker::BodyMaker(Random& random, Plan& plan, Signature& self, FunctionBuilder& builder,
                     uint64_t most_cost)
    : random_(random),
      plan_(plan),
      self_(self),
      f_(builder),
      most_cost_(most_cost),
      cost_left_(most_cost),
      most_recursive_calls_(static_cast<uint64_t>(random.between(1, 4))) {
  for (std::size_t i = 0; i < self.params.size(); ++i) scope_.push_back(f_.param(i));
}

Vars BodyMaker::make() {
  if (!self_.fuel) call_in_front();
  const Vars results = self_.fuel ? guarded_by_fuel() : block(self_.results);
  self_.cost = 1 + most_cost_ - cost_left_;
  return results;
}

/// Functions with fuel are called only on the side of a condition on which there is some left.
Vars BodyMaker::guarded_by_fuel() {
  const Var fuel = f_.param(*self_.fuel);
  if (random_.percent(30)) statement();
  const auto last_level = [&] { return block(self_.results); };
  const auto level = [&] {
    fuel_left_ = fuel;
    const std::size_t outer = scope_.size();
    call_in_front();
    const Vars results = block(self_.results);
    scope_.resize(outer);
    fuel_left_.reset();
    return results;
  };
  switch (random_.below(3)) {
    case 0:
      return f_.if_else(fuel <= 0, last_level, level);
    case 1:
      return f_.if_else(fuel < 1, last_level, level);
    default:
      return f_.if_else(fuel > 0, level, last_level);
  }
}

/// Most functions do well to call something: left to chance, few would.
void BodyMaker::call_in_front() {
  if (random_.percent(15)) return;
  std::optional<Vars> values = call_with_fuel(2);
  if (!values) values = call(2);
  if (values) add_to_scope(*values);
}

Vars BodyMaker::block(const std::vector<DType>& types) {
  const std::size_t outer = scope_.size();
  ++nesting_;
  const int statements = plan_.size > 0 ? random_.between(0, nesting_ == 1 ? 4 : 2) : 0;
  for (int i = 0; i < statements; ++i) statement();
  std::vector<Var> results;
  for (const DType type : types) results.push_back(expression(type, 3));
  --nesting_;
  scope_.resize(outer);
  return Vars(std::move(results));
}

/// `let names = ...`, used later or not.
void BodyMaker::statement() {
  f_.set_placement(random_.percent(4) ? "process:1" : "");
  std::optional<Vars> values;
  const bool may_nest = nesting_ < kDeepestNesting && plan_.size > 0;
  const std::size_t choice = random_.below(10);
  if (choice < 2) values = call_with_fuel(2);
  if (choice == 2) values = call(2);
  if (choice == 3 && may_nest) values = branch(some_types(1, 3));
  if ((choice == 4 || choice == 5) && may_nest) values = loop();
  if (choice == 6 && may_nest && random_.percent(60)) values = branches_that_call();
  if (!values) values = expression(random_type(random_), 3);
  f_.set_placement("");
  if (!random_.percent(12)) add_to_scope(*values);
}

void BodyMaker::add_to_scope(const Vars& vars) {
  static const std::vector<std::string> names{"x", "y", "n", "acc", "i"};
  for (const Var var : vars) {
    const bool is_param = f_.function().params.size() > var.id().index();
    scope_.push_back(random_.percent(50) && !is_param ? f_.named(var, random_.pick(names)) : var);
  }
}

Var BodyMaker::expression(DType type, int depth) {
  if (depth == 0 || plan_.size <= 0) return leaf(type);
  const bool may_nest = nesting_ < kDeepestNesting;
  const std::size_t choice = random_.below(100);
  if (choice < 20) return leaf(type);
  if (choice < 28 && may_nest) return branch({type});
  if (choice < 36 && may_nest && type == DType::Bool) return short_circuit(depth);
  if (choice < 50) {
    const std::optional<Vars> values = choice < 43 ? call_with_fuel(depth) : call(depth);
    if (values) {
      for (const Var value : *values) {
        if (dtype_of(value) == type) return value;
      }
    }
  }
  return operation(type, depth);
}

Var BodyMaker::leaf(DType type) {
  if (random_.percent(70)) {
    if (const std::optional<Var> found = in_scope(type)) return *found;
  }
  return constant(type);
}

std::optional<Var> BodyMaker::in_scope(DType type) {
  std::vector<Var> candidates;
  for (const Var var : scope_) {
    if (dtype_of(var) == type) candidates.push_back(var);
  }
  if (candidates.empty()) return std::nullopt;
  return random_.pick(candidates);
}

Var BodyMaker::constant(DType type) {
  --plan_.size;
  return f_.constant(random_value(random_, type));
}

Var BodyMaker::operation(DType type, int depth) {
  if (random_.percent(8)) {
    if (const std::optional<Var> again = repeated(type)) return *again;
  }
  const Typed& chosen = drawn_operation(random_, plan_.danger, type);
  std::vector<Var> operands{expression(chosen.operand, depth - 1)};
  while (operands.size() < chosen.op->arity()) {
    operands.push_back(random_.percent(15) ? operands[0] : expression(chosen.operand, depth - 1));
  }
  --plan_.size;
  return guarded(*chosen.op, operands);
}

/// An operation that was done before, once more: what merging common subexpressions is for.
std::optional<Var> BodyMaker::repeated(DType type) {
  const std::optional<Var> known = in_scope(type);
  if (!known) return std::nullopt;
  const std::vector<ir::Node>& nodes = f_.function().nodes;
  const auto node = std::find_if(nodes.rbegin(), nodes.rend(), [&](const ir::Node& each) {
    return std::find(each.results.begin(), each.results.end(), known->id()) != each.results.end();
  });
  if (node == nodes.rend() || node->kind != ir::NodeKind::Op) return std::nullopt;
  std::vector<Var> operands;
  for (const ir::ValueId operand : node->operands) operands.emplace_back(&f_, operand);
  if (random_.percent(50)) std::reverse(operands.begin(), operands.end());
  return guarded(*node->op, operands);
}

/// The operation, kept from the faults that the program is not to run into. Operations that fail in other
/// ways than those known here are left to programs in which any fault may come.
Var BodyMaker::guarded(const OpDef& op, const std::vector<Var>& operands) {
  const DType dtype = dtype_of(operands[0]);
  if (!op.can_fail(dtype, OverflowMode::Wrap)) return f_.op(op, operands);
  const Danger danger = danger_of(op, dtype);
  if (danger == Danger::DivisionByZero) {
    if (may(Danger::DivisionByZero) && random_.percent(70)) return f_.op(op, operands);
    if (random_.percent(50))
      return f_.op(op, {operands[0], constant_like(operands[1], int64_t{random_.between(1, 5)})});
    const Var positive = f_.op("max", {at_most(operands[1], 9), constant_like(operands[1], int64_t{1})});
    return f_.op(op, {operands[0], positive});
  }
  if (danger == Danger::Assumption) {
    const int64_t id = random_.between(0, 9);
    if (may(Danger::Assumption) && random_.percent(50)) return f_.op(op, operands, {id});
    return f_.op(op, {f_.op("or", {operands[0], f_.constant(Value(true))})}, {id});
  }
  const DType result = op.type_rule.value({.operands = std::vector<Type>{dtype}}).dtype;
  if (danger != Danger::InvalidCast) {
    return plan_.danger == Danger::Any ? f_.op(op, operands) : constant(result);
  }
  if (may(Danger::InvalidCast) && random_.percent(70)) return f_.op(op, operands);
  const double least = result == DType::U8 ? 0 : -1e6;
  const double most = result == DType::U8 ? 255 : 1e6;
  const Var fits = f_.op("and", {operands[0] >= least, operands[0] <= most});
  return f_.if_else(
      fits, [&] { return f_.op(op, operands); }, [&] { return leaf(result); });
}

Var BodyMaker::short_circuit(int depth) {
  const Var condition = expression(DType::Bool, depth - 1);
  const bool is_and = random_.percent(50);
  const auto right = [&] { return block({DType::Bool}); };
  const auto shortcut = [&] { return f_.constant(Value(!is_and)); };
  plan_.size -= 2;
  if (is_and) return f_.if_else(condition, right, shortcut);
  return f_.if_else(condition, shortcut, right);
}

std::optional<Vars> BodyMaker::call(int depth) {
  if (plan_.plain.empty()) return std::nullopt;
  const Signature& callee = random_.pick(plan_.plain);
  if (!spend(trips_ * callee.cost)) return std::nullopt;
  return call(callee, std::nullopt, depth);
}

/// In a function with fuel a call with less; in others a call with as much as can be paid for.
std::optional<Vars> BodyMaker::call_with_fuel(int depth) {
  if (plan_.with_fuel.empty()) return std::nullopt;
  const Signature& callee = random_.pick(plan_.with_fuel);
  if (self_.fuel) {
    if (!fuel_left_ || self_.recursive_calls + trips_ > most_recursive_calls_) return std::nullopt;
    self_.recursive_calls += trips_;
    return call(callee, less_fuel(), depth);
  }
  const int most = plan_.affordable_fuel(cost_left_ * 2 / (3 * trips_));
  if (most < 0) return std::nullopt;
  const int fuel = random_.between(most / 2, most);
  spend(trips_ * plan_.cost_of(fuel));
  const std::optional<Var> wish = random_.percent(50) ? in_scope(DType::I64) : std::nullopt;
  return call(callee, wish ? at_most(*wish, fuel) : f_.constant(Value(int64_t{fuel})), depth);
}

Vars BodyMaker::call(const Signature& callee, std::optional<Var> fuel, int depth) {
  std::vector<Var> arguments;
  for (std::size_t i = 0; i < callee.params.size(); ++i) {
    arguments.push_back(callee.fuel == i ? *fuel : expression(callee.params[i], depth - 1));
  }
  --plan_.size;
  return f_.call(callee.ref, arguments);
}

Var BodyMaker::less_fuel() {
  const std::size_t choice = random_.below(10);
  if (choice == 0) return *fuel_left_ / 2;
  return choice < 3 ? *fuel_left_ - 2 : *fuel_left_ - 1;
}

Var BodyMaker::at_most(Var value, int64_t most) {
  return f_.op("min", {value, constant_like(value, most)});
}

/// Now and then inside of one with the same condition.
Vars BodyMaker::branch(const std::vector<DType>& types) {
  const bool repeats = !conditions_.empty() && random_.percent(20);
  const Var condition = repeats ? random_.pick(conditions_) : expression(DType::Bool, 2);
  --plan_.size;
  conditions_.push_back(condition);
  const Vars given = f_.if_else(
      condition, [&] { return block(types); }, [&] { return block(types); });
  conditions_.pop_back();
  return given;
}

/// Branches that do not need each other.
Vars BodyMaker::branches_that_call() {
  std::vector<Var> values;
  for (int count = random_.between(2, 3); count > 0; --count) {
    const std::vector<DType> types = some_types(1, 2);
    const auto side = [&] {
      const std::size_t outer = scope_.size();
      call_in_front();
      const Vars results = block(types);
      scope_.resize(outer);
      return results;
    };
    const Var condition = expression(DType::Bool, 2);
    --plan_.size;
    const Vars given = f_.if_else(condition, side, side);
    values.insert(values.end(), given.begin(), given.end());
  }
  return Vars(std::move(values));
}

std::optional<Vars> BodyMaker::loop() {
  const int trips = random_.between(0, 4);
  const uint64_t runs = static_cast<uint64_t>(trips) + 1;  // of the condition
  if (!spend(trips_ * runs)) return std::nullopt;
  const DType counter = random_.percent(70) ? DType::I64 : DType::I32;
  const int start = random_.between(-1, 1);
  plan_.size -= 3;
  return random_.percent(50) ? counting_while(counter, start, trips) : counting_for(counter, start, trips);
}

/// The counter is a variable like the others, at any place among them; the loop may end before its limit.
Vars BodyMaker::counting_while(DType counter, int start, int trips) {
  std::vector<Var> initial = initial_state(0);
  const std::size_t at = random_.below(initial.size() + 1);
  const Var first = constant_like(f_.constant(zero_of(counter)), int64_t{start});
  initial.insert(initial.begin() + static_cast<std::ptrdiff_t>(at), first);
  const Var end = limit(counter, start + trips);
  const std::size_t outer = scope_.size();
  const uint64_t trips_outside = trips_;
  trips_ *= static_cast<uint64_t>(trips) + 1;
  ++nesting_;
  const Vars last = f_.while_loop(
      Vars(initial),
      [&](const Vars& state) -> Var {
        const Var counts = state[at] < end;
        if (random_.percent(60)) return counts;
        add_to_scope(state);
        const auto more = [&] { return Vars(expression(DType::Bool, 2)); };
        const Var both = random_.percent(50)
                             ? Var(f_.if_else(counts, more, [&] { return f_.constant(Value(false)); }))
                             : f_.op("and", {counts, more()});
        scope_.resize(outer);
        return both;
      },
      [&](const Vars& state) {
        add_to_scope(state);
        const Vars computed = next_state(dtypes_of(state));
        std::vector<Var> next(computed.begin(), computed.end());
        next[at] = state[at] + random_.between(1, 2);
        scope_.resize(outer);
        return Vars(std::move(next));
      });
  --nesting_;
  trips_ = trips_outside;
  return last;
}

Vars BodyMaker::counting_for(DType counter, int start, int trips) {
  const Vars initial(initial_state(1));
  const Var begin = constant_like(f_.constant(zero_of(counter)), int64_t{start});
  const Var end = limit(counter, start + trips);
  const std::size_t outer = scope_.size();
  const uint64_t trips_outside = trips_;
  trips_ *= static_cast<uint64_t>(trips) + 1;
  ++nesting_;
  const Vars last = f_.for_loop(begin, end, initial, [&](Var i, const Vars& state) {
    add_to_scope(i);
    add_to_scope(state);
    const Vars next = next_state(dtypes_of(state));
    scope_.resize(outer);
    return next;
  });
  --nesting_;
  trips_ = trips_outside;
  return last;
}

Var BodyMaker::limit(DType type, int most) {
  const std::optional<Var> wish = random_.percent(40) ? in_scope(type) : std::nullopt;
  if (wish) return at_most(*wish, most);
  return constant_like(f_.constant(zero_of(type)), int64_t{most});
}

std::vector<Var> BodyMaker::initial_state(int least) {
  std::vector<Var> state;
  for (const DType type : some_types(least, 3)) state.push_back(expression(type, 1));
  return state;
}

Vars BodyMaker::next_state(const std::vector<DType>& types) {
  std::vector<Var> next;
  if (random_.percent(30)) statement();
  if (random_.percent(15) && nesting_ < kDeepestNesting) add_to_scope(branches_that_call());
  for (const DType type : types) next.push_back(expression(type, 2));
  return Vars(std::move(next));
}

bool BodyMaker::spend(uint64_t cost) {
  if (cost > cost_left_) return false;
  cost_left_ -= cost;
  return true;
}

std::vector<DType> BodyMaker::some_types(int least, int most) {
  std::vector<DType> types(static_cast<std::size_t>(random_.between(least, most)));
  for (DType& type : types) type = random_type(random_);
  return types;
}

}  // namespace hiaton::properties
