#include "hiaton/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hiaton/error.h"
#include "ir/errors.h"
#include "tensor/dimensions.h"

namespace hiaton {
namespace {

/// As people know the operation: "+", "sqrt".
std::string_view label_of(const OpDef& op) {
  return op.symbol.empty() ? op.name.value : op.symbol;
}

Type result_type(const OpDef& op, const TypeQuestion& question) {
  try {
    return op.result_type(question);
  } catch (const ProgramError& error) {
    throw ProgramError(fmt::format("[{}] {}", label_of(op), error.what()));
  }
}

}  // namespace

FunctionBuilder& Var::builder() const {
  if (builder_ == nullptr)
    throw ProgramError("expected a value of a function, found one that was never made");
  return *builder_;
}

const Type& Var::type() const {
  return builder().function()[id_].type;
}

Vars::operator Var() const {
  if (vars_.size() != 1) {
    throw ProgramError(fmt::format("expected one value, found {} values", vars_.size()));
  }
  return vars_[0];
}

Var Vars::operator[](std::size_t i) const {
  if (i >= size()) throw ProgramError(fmt::format("expected an index below {} values, found {}", size(), i));
  return vars_[i];
}

void FunctionBuilder::refuse_finished() {
  throw ProgramError("the module is finished: its functions and their values cannot be used any more");
}

const ir::Block& FunctionBuilder::known(ir::BlockId block) const {
  const ir::Function& f = function();
  if (block.index() >= f.blocks.size())
    throw ProgramError(fmt::format("function '{}': expected a block that was begun, found another", f.name));
  return f[block];
}

const ir::Node& FunctionBuilder::known(ir::NodeId node) const {
  const ir::Function& f = function();
  if (node.index() >= f.nodes.size())
    throw ProgramError(fmt::format("function '{}': expected a node that was made, found another", f.name));
  return f[node];
}

Var FunctionBuilder::param(std::size_t index) {
  const ir::Function& f = function();
  const ir::ValueIds& params = f[f.body].params;
  if (index >= params.size()) {
    throw ProgramError(
        fmt::format("function '{}' has {} parameters, none of index {}", f.name, params.size(), index));
  }
  return Var(this, params[index]);
}

ir::Node& FunctionBuilder::append(ir::NodeKind kind) {
  ir::Function& f = editable();
  if (open_blocks_.empty()) throw ProgramError(fmt::format("function '{}' is finished", f.name));
  f[open_blocks_.back()].nodes.emplace_back(f.nodes.size());
  return f.nodes.emplace_back(ir::Node{.kind = kind, .span = span_, .placement = placement_});
}

Var FunctionBuilder::add_result(ir::Node& node, const Type& type) {
  ir::Function& f = editable();
  const ir::ValueId id(f.values.size());
  f.values.push_back({type, ""});
  node.results.push_back(id);
  return Var(this, id);
}

Vars FunctionBuilder::add_results(ir::Node& node, const std::vector<Type>& types) {
  std::vector<Var> results;
  results.reserve(types.size());
  node.results.reserve(types.size());
  for (const Type& type : types) results.push_back(add_result(node, type));
  return Vars(std::move(results));
}

void FunctionBuilder::reserve(std::size_t nodes) {
  ir::Function& f = editable();
  f.nodes.reserve(f.nodes.size() + nodes);
  f.values.reserve(f.values.size() + nodes + nodes / 4);  // calls and loops may have several
}

void FunctionBuilder::attempt(const std::function<bool()>& body) {
  const std::vector<ir::BlockId> open = open_blocks_;
  const std::vector<Measure> measures = measures_;
  const Span span = span_;
  const SharedString placement = placement_;
  const std::size_t nodes = function().nodes.size();
  const std::size_t blocks = function().blocks.size();
  const std::size_t values = function().values.size();
  const std::size_t in_block = open.empty() ? 0 : function()[open.back()].nodes.size();
  const auto forget = [&] {
    ir::Function& f = editable();
    f.nodes.resize(nodes);
    f.blocks.resize(blocks);
    f.values.resize(values);
    if (!open.empty()) f[open.back()].nodes.resize(in_block);
    open_blocks_ = open;
    measures_ = measures;
    span_ = span;
    placement_ = placement;
  };
  bool stays = false;
  try {
    stays = body();
  } catch (...) {
    forget();
    throw;
  }
  if (!stays) forget();
}

void FunctionBuilder::require_own(std::span<const Var> vars) const {
  for (Var var : vars) {
    if (!var.id().valid() || &var.builder() != this) {
      throw ProgramError(fmt::format("function '{}' uses a value of another function", function().name));
    }
  }
}

std::vector<Type> FunctionBuilder::types_of(const Vars& vars) const {
  std::vector<Type> types;
  types.reserve(vars.size());
  for (Var var : vars) types.push_back(var.type());
  return types;
}

Var FunctionBuilder::constant(Value value) {
  ir::Node& node = append(ir::NodeKind::Const);
  const Type type = value.type();
  node.constant = std::move(value);
  return add_result(node, type);
}

Var FunctionBuilder::constant(Value value, const Type& type) {
  if (!fits(value, type)) {
    throw ProgramError(
        fmt::format("expected a constant of type {}, found {}", to_string(type), to_string(value)));
  }
  if (value.is_data() && !is_string(type) && Data::has_object(value.slot().data))
    return constant_data(value, type);
  ir::Node& node = append(ir::NodeKind::Const);
  node.constant = std::move(value);
  return add_result(node, type);
}

Var FunctionBuilder::op(const OpDef& op, std::span<const Var> operands) {
  return this->op(op, operands, {});
}

Var FunctionBuilder::op(const OpDef& op, std::span<const Var> operands, Attributes attributes,
                        const Type* declared) {
  require_own(operands);
  if (!op.takes(operands.size())) {
    throw ProgramError(
        fmt::format("[{}] expected {} operands, found {}", label_of(op), op.arity(), operands.size()));
  }
  if (!op.takes_attributes(attributes.size())) {
    throw ProgramError(fmt::format("[{}] expected {} attributes, found {}", label_of(op),
                                   op.attributes.size(), attributes.size()));
  }
  operand_types_.clear();
  for (Var operand : operands) operand_types_.push_back(operand.type());
  Type result = result_type(op, {operand_types_, attributes, declared});
  ir::Node& node = append(ir::NodeKind::Op);
  node.op = &op;
  node.attributes = std::move(attributes);
  node.operands.reserve(operands.size());
  for (Var operand : operands) node.operands.push_back(operand.id());
  return add_result(node, result);
}

Var FunctionBuilder::op(std::string_view name, const std::vector<Var>& operands) {
  const OpDef* found = catalog().find(name);
  if (found == nullptr) throw ProgramError(fmt::format("there is no operation '{}'", name));
  return op(*found, operands);
}

Var FunctionBuilder::op(std::string_view name, const std::vector<Var>& operands, Attributes attributes,
                        const Type* declared) {
  const OpDef* found = catalog().find(name);
  if (found == nullptr) throw ProgramError(fmt::format("there is no operation '{}'", name));
  return op(*found, operands, std::move(attributes), declared);
}

Vars FunctionBuilder::split(Var tensor, int64_t axis, std::span<const int64_t> lengths) {
  Type whole = tensor.type();
  const auto rank = static_cast<int64_t>(whole.shape.size());
  if (!whole.is_tensor()) throw ProgramError("[split] expected a tensor, found " + to_string(whole));
  if (axis < -rank || axis >= rank) {
    throw ProgramError(fmt::format("[split] expected an axis of {}, found {}", to_string(whole), axis));
  }
  if (lengths.empty()) throw ProgramError("[split] expected at least one length, found none");
  int64_t sum = 0;
  for (int64_t length : lengths) {
    if (length < 0 || __builtin_add_overflow(sum, length, &sum)) {
      throw ProgramError(fmt::format("[split] expected lengths of 0 or more, found {}", length));
    }
  }
  Dim& dim = whole.shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
  if (dim.size >= 0 && dim.size != sum) {
    throw ProgramError(
        fmt::format("[split] expected lengths that add up to the size of {} along axis {}, found {}",
                    to_string(whole), axis, fmt::join(lengths, " + ")));
  }
  dim = {.size = sum, .symbol = ""};
  const Var all = checked(tensor, whole);
  std::vector<Var> pieces;
  int64_t start = 0;
  for (int64_t length : lengths) {
    pieces.push_back(op("slice", {all}, {axis, start, length}));
    start += length;
  }
  return Vars(pieces);
}

Var FunctionBuilder::parameter(std::size_t number) {
  if (number >= module_.parameters.size()) throw ProgramError("there is no such parameter");
  ir::Node& node = append(ir::NodeKind::Param);
  node.attributes = {static_cast<int64_t>(number)};
  const Var result = add_result(node, module_.parameters[number].type);
  return named(result, module_.parameters[number].name);
}

void FunctionBuilder::accumulate(std::size_t parameter, Accumulation how, const std::vector<Var>& operands) {
  require_own(operands);
  ir::Node& node = append(ir::NodeKind::Accumulate);
  node.attributes = {static_cast<int64_t>(parameter), static_cast<int64_t>(how)};
  for (Var operand : operands) node.operands.push_back(operand.id());
}

Var FunctionBuilder::make(const Type& data, std::size_t variant, const std::vector<Var>& fields) {
  const bool is_constant = data.is_data() && variant < data.data->variants.size() &&
                           data.data->variants[variant].fields.empty() && fields.empty();
  if (is_constant) return constant(Value(Data(static_cast<uint32_t>(variant), {})), data);
  const bool has_fields = data.is_data() && variant < data.data->variants.size() &&
                          data.data->variants[variant].fields.size() == fields.size();
  if (!has_fields)
    return op("make", fields, {static_cast<int64_t>(variant)}, &data);  // which says what is wrong
  std::vector<Var> given;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Type& type = data.data->variants[variant].fields[i].type;
    given.push_back(compatible(type, fields[i].type()) ? checked(fields[i], type) : fields[i]);
  }
  return op("make", given, {static_cast<int64_t>(variant)}, &data);
}

Var FunctionBuilder::variant(Var data) {
  return op("variant", {data});
}

Var FunctionBuilder::field(Var data, std::size_t variant, std::size_t field) {
  return op("field", {data}, {static_cast<int64_t>(variant), static_cast<int64_t>(field)});
}

Vars FunctionBuilder::resume(ir::NodeId call, uint32_t phase, const std::vector<Var>& arguments) {
  require_own(arguments);
  if (known(call).kind != ir::NodeKind::Call) {
    throw ProgramError(
        fmt::format("function '{}': expected a call to resume, found another node", function().name));
  }
  const ir::FunctionId callee = function()[call].callee;
  const ir::Function& target = module_[callee];
  if (phase >= target.phases.size() && !target.phases.empty())
    throw ProgramError(fmt::format("'{}' has {} phases, found {}", target.name, target.phases.size(), phase));
  const Range results = target.results_of(phase);
  ir::Node& node = append(ir::NodeKind::Resume);
  node.callee = callee;
  node.of = call;
  node.phase = phase;
  for (Var argument : arguments) node.operands.push_back(argument.id());
  const auto first = target.results.begin() + static_cast<std::ptrdiff_t>(results.begin);
  return add_results(node, {first, first + static_cast<std::ptrdiff_t>(results.count)});
}

Vars FunctionBuilder::call(FunctionRef callee, const std::vector<Var>& arguments) {
  require_own(arguments);
  if (callee.id.index() >= module_.functions.size()) {
    throw ProgramError("call of a function that was not declared");
  }
  const ir::Function& target = module_[callee.id];
  Dimensions dimensions;
  const auto fits = [&](const ir::ValueInfo& param, Var argument) {
    return dimensions.bind(param.type, argument.type());
  };
  const auto params_end = target.params.begin() + static_cast<std::ptrdiff_t>(target.params_of(0).count);
  if (!std::equal(target.params.begin(), params_end, arguments.begin(), arguments.end(), fits)) {
    std::vector<Type> expected;
    for (auto param = target.params.begin(); param != params_end; ++param) expected.push_back(param->type);
    throw ProgramError(fmt::format("arguments of '{}': expected {}, found {}", target.name,
                                   list_types(expected), list_types(types_of(Vars(arguments)))));
  }
  const std::vector<Var> given = checked_arguments(target, arguments, dimensions);
  ir::Node& node = append(ir::NodeKind::Call);
  node.callee = callee.id;
  node.operands.reserve(given.size());
  for (Var argument : given) node.operands.push_back(argument.id());
  std::vector<Type> results;
  for (std::size_t i = 0; i < target.results_of(0).count; ++i) {
    results.push_back(dimensions.substitute(target.results[i]));
  }
  return add_results(node, results);
}

ir::BlockId FunctionBuilder::begin_block(const std::vector<Type>& params) {
  ir::Function& f = editable();
  const ir::BlockId id(f.blocks.size());
  ir::Block block;
  for (const Type& type : params) {
    block.params.emplace_back(f.values.size());
    f.values.push_back({type, ""});
  }
  f.blocks.push_back(std::move(block));
  open_blocks_.push_back(id);
  return id;
}

Vars FunctionBuilder::block_params(ir::BlockId block) {
  std::vector<Var> params;
  for (ir::ValueId id : known(block).params) params.emplace_back(this, id);
  return Vars(std::move(params));
}

void FunctionBuilder::end_block(ir::BlockId block, const Vars& results) {
  require_own(results);
  if (open_blocks_.empty() || open_blocks_.back() != block) {
    throw ProgramError(fmt::format(
        "function '{}': expected to end the block that was begun last, found another", function().name));
  }
  for (Var result : results) editable()[block].results.push_back(result.id());
  open_blocks_.pop_back();
  while (!measures_.empty() && measures_.back().depth > open_blocks_.size()) measures_.pop_back();
}

Vars FunctionBuilder::finish_if(Var condition, ir::BlockId then, ir::BlockId otherwise) {
  require_own(Vars(condition));
  require_types({DType::Bool}, {condition.type()}, "condition of 'if'");
  const ir::Function& f = function();
  std::vector<Type> types;
  std::vector<Type> other_types;
  for (ir::ValueId id : known(then).results) types.push_back(f[id].type);
  for (ir::ValueId id : known(otherwise).results) other_types.push_back(f[id].type);
  const auto alike = [](const Type& a, const Type& b) { return compatible(without_sizes(a), b); };
  if (!std::equal(types.begin(), types.end(), other_types.begin(), other_types.end(), alike)) {
    require_types(types, other_types, "the branches of 'if' differ in type");
  }
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = join(types[i], other_types[i]);
  ir::Node& node = append(ir::NodeKind::If);
  node.operands = {condition.id()};
  node.blocks = {then, otherwise};
  return add_results(node, types);
}

Vars FunctionBuilder::finish_if_again(ir::NodeId first, ir::BlockId then, ir::BlockId otherwise) {
  const ir::Function& f = function();
  const ir::ValueIds& results = known(then).results;
  const ir::ValueIds& others = known(otherwise).results;
  known(first);
  if (results.size() != others.size()) {
    throw ProgramError(fmt::format("function '{}': the branches of 'if' have {} and {} results", f.name,
                                   results.size(), others.size()));
  }
  std::vector<Type> types;
  for (std::size_t i = 0; i < results.size(); ++i)
    types.push_back(join(f[results[i]].type, f[others[i]].type));
  ir::Node& node = append(ir::NodeKind::If);
  node.of = first;
  node.blocks = {then, otherwise};
  return add_results(node, types);
}

Vars FunctionBuilder::finish_while(const Vars& initial, ir::BlockId condition, ir::BlockId body) {
  require_own(initial);
  const ir::Function& f = function();
  std::vector<Type> state;
  std::vector<Type> next;
  std::vector<Type> test;
  for (ir::ValueId id : known(body).params) state.push_back(f[id].type);
  for (ir::ValueId id : known(body).results) next.push_back(f[id].type);
  for (ir::ValueId id : known(condition).results) test.push_back(f[id].type);
  require_types({DType::Bool}, test, "condition of 'while'");
  require_types(state, types_of(initial), "first state of a loop");
  require_types(state, next, "next state of a loop");
  ir::Node& node = append(ir::NodeKind::While);
  node.blocks = {condition, body};
  for (Var var : initial) node.operands.push_back(var.id());
  return add_results(node, state);
}

Vars FunctionBuilder::if_else(Var condition, const std::function<Vars()>& then,
                              const std::function<Vars()>& otherwise) {
  const ir::BlockId then_block = begin_block({});
  end_block(then_block, then());
  const ir::BlockId else_block = begin_block({});
  end_block(else_block, otherwise());
  return finish_if(condition, then_block, else_block);
}

Vars FunctionBuilder::match(Var data, const std::vector<std::function<Vars(const Vars& fields)>>& cases) {
  const Type type = data.type();
  if (!type.is_data()) {
    throw ProgramError(fmt::format("match: expected a data type, found {}", hiaton::to_string(type)));
  }
  if (cases.empty() || cases.size() != type.data->variants.size()) {
    throw ProgramError(fmt::format("match: expected {} cases, one for each variant of {}, found {}",
                                   type.data->variants.size(), hiaton::to_string(type), cases.size()));
  }
  const auto fields = [&](std::size_t variant) {
    std::vector<Var> vars;
    for (std::size_t i = 0; i < type.data->variants[variant].fields.size(); ++i)
      vars.push_back(field(data, variant, i));
    return Vars(std::move(vars));
  };
  const std::size_t last = cases.size() - 1;
  const Var which = last > 0 ? variant(data) : data;
  const std::function<Vars(std::size_t)> from = [&](std::size_t i) -> Vars {
    if (i == last) return cases[i](fields(i));
    return if_else(
        which == static_cast<int64_t>(i), [&] { return cases[i](fields(i)); }, [&] { return from(i + 1); });
  };
  return from(0);
}

Vars FunctionBuilder::while_loop(const Vars& initial, const std::function<Var(const Vars&)>& condition,
                                 const std::function<Vars(const Vars&)>& body) {
  const std::vector<Type> state = types_of(initial);
  const ir::BlockId condition_block = begin_block(state);
  end_block(condition_block, condition(block_params(condition_block)));
  const ir::BlockId body_block = begin_block(state);
  const Vars now = block_params(body_block);
  const Vars next = body(now);
  require_types(state, types_of(next), "next state of a loop");
  std::vector<Var> checked_next;
  for (std::size_t i = 0; i < next.size(); ++i) checked_next.push_back(checked_like(next[i], now[i]));
  end_block(body_block, Vars(std::move(checked_next)));
  return finish_while(initial, condition_block, body_block);
}

Vars FunctionBuilder::for_loop(Var begin, Var end, const Vars& initial,
                               const std::function<Vars(Var, const Vars&)>& body) {
  std::vector<Var> state{begin};
  state.insert(state.end(), initial.begin(), initial.end());
  const auto without_counter = [](const Vars& vars) {
    return Vars(std::vector<Var>(vars.begin() + 1, vars.end()));
  };
  const Vars last = while_loop(
      Vars(state), [&](const Vars& now) { return now[0] < end; },
      [&](const Vars& now) {
        std::vector<Var> all{now[0] + 1};
        const Vars next = body(now[0], without_counter(now));
        all.insert(all.end(), next.begin(), next.end());
        return Vars(std::move(all));
      });
  return without_counter(last);
}

Var FunctionBuilder::cast(Var value, DType to) {
  return op(name_of(to), {value});
}

Var FunctionBuilder::named(Var value, SharedString name) {
  require_own(Vars(value));
  editable()[value.id()].name = std::move(name);
  return value;
}

}  // namespace hiaton
