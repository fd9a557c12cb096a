// What every pass may rely on in a module.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/ir.h"
#include "ir/differentiable.h"
#include "ir/errors.h"
#include "ir/names.h"
#include "tensor/dimensions.h"

namespace hiaton::ir {
namespace {

/// Walks the blocks of one function with a stack of its own: nesting is checked, not trusted.
class FunctionVerifier {
 public:
  FunctionVerifier(const Module& module, const Function& function)
      : module_(module),
        f_(function),
        values_(function.values.size(), Visibility::Undefined),
        nodes_seen_(function.nodes.size(), false),
        blocks_seen_(function.blocks.size(), false),
        has_families_(std::any_of(function.nodes.begin(), function.nodes.end(), [](const Node& node) {
          return node.kind == NodeKind::If && node.of.valid();
        })) {
    visible_.reserve(function.values.size());
  }

  void run() {
    check_signature();
    if (const GradientRequest* request = request_for_this()) return check_request(*request);
    check_body_params();
    enter(f_.body);
    while (!path_.empty()) step();
  }

 private:
  enum class Visibility : uint8_t { Undefined, Visible, OutOfScope };

  /// A block that is being walked: which node is next, and how many of its blocks have been walked.
  struct BlockWalk {
    BlockId block;
    std::size_t node = 0;
    std::size_t blocks_done = 0;
    std::size_t visible_before = 0;
  };

  [[noreturn]] void fail(const std::string& rule) const {
    throw ProgramError(fmt::format("function '{}': {}", f_.name, rule));
  }
  [[noreturn]] void fail(NodeId id, const std::string& rule) const {
    throw ProgramError(
        fmt::format("function '{}', node {} ({}): {}", f_.name, id.index(), describe(f_[id]), rule));
  }

  std::string describe(const Node& node) const {
    switch (node.kind) {
      case NodeKind::Const:
        return "constant " + to_string(node.constant);
      case NodeKind::Param:
        return "parameter";
      case NodeKind::Accumulate:
        return "accumulate";
      case NodeKind::Resume:
        return "resumed call";
      case NodeKind::Op:
        return node.op == nullptr ? "operation" : std::string(node.op->name.value);
      case NodeKind::Call:
        return node.callee.index() < module_.functions.size() ? "call of " + module_[node.callee].name
                                                              : "call";
      case NodeKind::If:
        return "if";
      case NodeKind::While:
        return "while";
    }
    return "unknown kind";
  }

  void check_signature() const {
    if (!is_function_name(f_.name)) fail("expected a name that is no keyword and no type");
    std::unordered_set<std::string_view> names;
    for (const ValueInfo& param : f_.params) {
      if (!is_name(param.name)) fail(fmt::format("'{}' is no name for a parameter", param.name));
      if (!names.insert(param.name).second) fail(fmt::format("two parameters are named '{}'", param.name));
    }
    if (f_.results.empty()) fail("expected at least one result");
  }

  const GradientRequest* request_for_this() const {
    return module_.gradient_requests.empty() ? nullptr
                                             : module_.gradient_request(FunctionId(
                                                   static_cast<std::size_t>(&f_ - module_.functions.data())));
  }

  /// A gradient that is still to be derived.
  void check_request(const GradientRequest& request) const {
    if (request.of.index() >= module_.functions.size()) fail("it is the gradient of no function");
    const Function& of = module_[request.of];
    if (of.results.empty()) fail(fmt::format("'{}', whose gradient it is, has no results", of.name));
    if (f_.body.valid()) fail("expected no body of a gradient that is to be derived");
    for (const GradientForm::By& by : request.form.wrt) {
      const std::size_t count = by.is_learned ? module_.parameters.size() : of.params.size();
      if (by.number >= count) fail(fmt::format("it is by a parameter that '{}' does not have", of.name));
    }
    const auto same = [](const ValueInfo& a, const ValueInfo& b) { return a.type == b.type; };
    const GradientSignature wanted = gradient_signature(module_, of, request.form);
    const bool same_params =
        std::equal(f_.params.begin(), f_.params.end(), wanted.params.begin(), wanted.params.end(), same);
    if (!same_params || f_.results != wanted.results) {
      fail(fmt::format("its parameters and results are not those of the gradient of '{}'", of.name));
    }
  }

  void check_body_params() const {
    if (f_.body.index() >= f_.blocks.size()) fail("it has no body");
    const Block& body = f_[f_.body];
    const auto same = [&](const ValueInfo& param, ValueId id) {
      return id.index() < f_.values.size() && f_[id].type == param.type;
    };
    if (!std::equal(f_.params.begin(), f_.params.end(), body.params.begin(), body.params.end(), same)) {
      fail("the parameters of its body are not its parameters");
    }
  }

  void enter(BlockId id) {
    if (path_.size() > kMaxNesting) {
      throw error_in(
          module_, f_,
          fmt::format("function '{}': expected at most {} branches and loops inside each other, found more",
                      f_.name, kMaxNesting));
    }
    if (id.index() >= f_.blocks.size()) fail(fmt::format("there is no block {}", id.index()));
    if (blocks_seen_[id.index()]) fail(fmt::format("block {} stands in two places", id.index()));
    blocks_seen_[id.index()] = true;
    path_.push_back({.block = id, .visible_before = visible_.size()});
    for (ValueId param : f_[id].params) define(param);
    for (ValueId value : seen_by_side_of(id)) show(value);
  }

  /// What the same side of the Ifs before, of the same family, defined.
  const std::vector<ValueId>& seen_by_side_of(BlockId block) {
    static const std::vector<ValueId> none;
    if (path_.size() < 2) return none;
    const BlockWalk& outer = path_[path_.size() - 2];
    const NodeId id = f_[outer.block].nodes[outer.node];
    const Node& node = f_[id];
    if (node.kind != NodeKind::If || !node.of.valid()) return none;
    const bool family = node.of.index() < f_.nodes.size() && nodes_seen_[node.of.index()] &&
                        f_[node.of].kind == NodeKind::If && !f_[node.of].of.valid();
    if (!family) fail(id, "expected an If before it whose side it takes");
    const std::size_t side = block == node.blocks[0] ? 0 : 1;
    return defined_by_side_[{node.of.index(), side}];
  }

  void show(ValueId id) {
    values_[id.index()] = Visibility::Visible;
    visible_.push_back(id);
  }

  void step() {
    BlockWalk& place = path_.back();
    const Block& block = f_[place.block];
    if (place.node == block.nodes.size()) return leave(block);
    const NodeId id = block.nodes[place.node];
    if (id.index() >= f_.nodes.size()) fail(fmt::format("there is no node {}", id.index()));
    const Node& node = f_[id];
    if (place.blocks_done == 0) begin_node(id, node);
    if (place.blocks_done < node.blocks.size()) return enter(node.blocks[place.blocks_done++]);
    finish_node(id, node);
    place.blocks_done = 0;
    ++place.node;
  }

  void leave(const Block& block) {
    for (ValueId result : block.results) {
      if (!is_visible(result)) fail(fmt::format("a block gives value {}, which it cannot see", result.value));
    }
    if (path_.size() == 1 && !all_compatible(block.results, f_.results)) {
      fail(fmt::format("results: expected {}, found {}", list(f_.results), list(block.results)));
    }
    const std::size_t visible = path_.back().visible_before;
    if (path_.size() > 1) keep_for_family(visible);
    for (std::size_t i = visible; i < visible_.size(); ++i)
      values_[visible_[i].index()] = Visibility::OutOfScope;
    visible_.resize(visible);
    path_.pop_back();
  }

  void keep_for_family(std::size_t visible) {
    const BlockWalk& outer = path_[path_.size() - 2];
    const NodeId id = f_[outer.block].nodes[outer.node];
    const Node& node = f_[id];
    if (node.kind != NodeKind::If || !has_families_) return;
    const NodeId first = node.of.valid() ? node.of : id;
    const std::size_t side = path_.back().block == node.blocks[0] ? 0 : 1;
    defined_by_side_[{first.index(), side}].assign(visible_.begin() + static_cast<std::ptrdiff_t>(visible),
                                                   visible_.end());
  }

  bool is_visible(ValueId id) const {
    return id.index() < values_.size() && values_[id.index()] == Visibility::Visible;
  }

  void define(ValueId id) {
    if (id.index() >= values_.size()) fail(fmt::format("there is no value {}", id.value));
    if (values_[id.index()] != Visibility::Undefined)
      fail(fmt::format("value {} is defined twice", id.index()));
    values_[id.index()] = Visibility::Visible;
    visible_.push_back(id);
  }

  void begin_node(NodeId id, const Node& node) {
    if (nodes_seen_[id.index()]) fail(id, "it stands in two places");
    nodes_seen_[id.index()] = true;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (!is_visible(node.operands[i])) {
        fail(id, fmt::format("operand {} (value {}) is not defined before it", i, node.operands[i].value));
      }
    }
    const std::size_t blocks = node.kind == NodeKind::If || node.kind == NodeKind::While ? 2 : 0;
    if (node.blocks.size() != blocks) {
      fail(id, fmt::format("expected {} blocks, found {}", blocks, node.blocks.size()));
    }
  }

  void finish_node(NodeId id, const Node& node) {
    switch (node.kind) {
      case NodeKind::Const:
        if (!node.operands.empty()) fail(id, "expected no operands");
        check_constant(id, node);
        break;
      case NodeKind::Param:
        if (parameter_of(node) == nullptr) fail(id, "there is no such parameter");
        expect_result(id, node, parameter_of(node)->type);
        break;
      case NodeKind::Accumulate:
        if (parameter_of(node) == nullptr || node.attributes.size() != 2)
          fail(id, "there is no such parameter");
        if (node.operands.empty()) fail(id, "expected what it adds");
        if (!node.results.empty()) fail(id, "expected no results");
        break;
      case NodeKind::Resume:
        check_resume(id, node);
        break;
      case NodeKind::Op:
        check_operation(id, node);
        break;
      case NodeKind::Call:
        check_call(id, node);
        break;
      case NodeKind::If:
        check_if(id, node);
        break;
      case NodeKind::While:
        check_while(id, node);
        break;
    }
    for (ValueId result : node.results) define(result);
  }

  void check_constant(NodeId id, const Node& node) const {
    if (!node.constant.is_data()) return expect_result(id, node, node.constant.type());
    check_results_exist(id, node);
    if (node.results.size() != 1 || !fits(node.constant, f_[node.results[0]].type))
      fail(id, "expected a result of a data type");
  }

  void check_operation(NodeId id, const Node& node) {
    if (node.op == nullptr) fail(id, "it has no operation");
    if (!node.op->takes(node.operands.size())) {
      fail(id, fmt::format("expected {} operands, found {}", node.op->arity(), node.operands.size()));
    }
    if (!node.op->takes_attributes(node.attributes.size())) {
      fail(id, fmt::format("expected {} attributes, found {}", node.op->attributes.size(),
                           node.attributes.size()));
    }
    operand_types_.clear();
    for (ValueId operand : node.operands) operand_types_.push_back(f_[operand].type);
    Type result;
    try {
      const Type* declared = node.results.size() == 1 && node.results[0].index() < f_.values.size()
                                 ? &f_[node.results[0]].type
                                 : nullptr;
      result = node.op->result_type({operand_types_, node.attributes, declared});
    } catch (const ProgramError& error) {
      fail(id, error.what());
    }
    expect_result(id, node, result);
  }

  void check_call(NodeId id, const Node& node) const {
    if (node.callee.index() >= module_.functions.size()) fail(id, "there is no such function");
    const Function& callee = module_[node.callee];
    check_phase(id, node, callee, 0);
  }

  void check_resume(NodeId id, const Node& node) const {
    const bool resumes_call = node.of.index() < f_.nodes.size() && nodes_seen_[node.of.index()] &&
                              f_[node.of].kind == NodeKind::Call && f_[node.of].callee == node.callee;
    if (!resumes_call) fail(id, "expected a call of the same function before it");
    const Function& callee = module_[node.callee];
    if (node.phase == 0 || node.phase >= callee.phase_count()) fail(id, "the callee has no such phase");
    check_phase(id, node, callee, node.phase);
  }

  void check_phase(NodeId id, const Node& node, const Function& callee, std::size_t phase) const {
    const Range arguments = callee.params_of(phase);
    const auto params = std::span(callee.params).subspan(arguments.begin, arguments.count);
    expect(id, "arguments", params, node.operands);
    if (phase == 0) check_symbols(id, params, node.operands);
    const Range range = callee.results_of(phase);
    check_results_exist(id, node);
    expect(id, "results", std::span(callee.results).subspan(range.begin, range.count), node.results);
  }

  void check_symbols(NodeId id, std::span<const ValueInfo> params, const ValueIds& arguments) const {
    Dimensions dimensions;
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (!dimensions.bind(params[i].type, f_[arguments[i]].type))
        fail_types(id, "arguments", params, arguments);
    }
  }

  const Parameter* parameter_of(const Node& node) const {
    if (node.attributes.empty()) return nullptr;
    const auto number = static_cast<std::size_t>(node.attributes[0]);
    return number < module_.parameters.size() ? &module_.parameters[number] : nullptr;
  }

  void check_if(NodeId id, const Node& node) const {
    const bool again = node.of.valid();
    if (!again) expect(id, "condition", one_bool_, node.operands);
    check_results_exist(id, node);
    if (node.results.empty() && !again) fail(id, "expected at least one result");
    for (BlockId block : node.blocks) {
      expect(id, "parameters of a branch", ValueIds(), f_[block].params);
      expect(id, "results of a branch", node.results, f_[block].results);
    }
  }

  void check_while(NodeId id, const Node& node) const {
    const ValueIds& state = f_[node.blocks[1]].params;
    if (state.empty()) fail(id, "expected at least one loop variable");
    expect(id, "parameters of the body", node.operands, state);
    expect(id, "parameters of the condition", state, f_[node.blocks[0]].params);
    expect(id, "condition", one_bool_, f_[node.blocks[0]].results);
    expect(id, "results of the body", state, f_[node.blocks[1]].results);
    check_results_exist(id, node);
    expect(id, "results", state, node.results);
  }

  // What has types: types themselves, values, parameters. Lists of them are compared in place.
  const Type& type_of(const Type& type) const { return type; }
  const Type& type_of(const ValueInfo& value) const { return value.type; }
  const Type& type_of(ValueId id) const { return f_[id].type; }

  template <class Expected, class Found>
  bool all_compatible(const Expected& expected, const Found& found) const {
    return std::equal(expected.begin(), expected.end(), found.begin(), found.end(),
                      [&](const auto& a, const auto& b) { return compatible(type_of(a), type_of(b)); });
  }

  template <class Things>
  std::string list(const Things& things) const {
    std::vector<Type> types;
    for (const auto& thing : things) types.push_back(type_of(thing));
    return list_types(types);
  }

  template <class Expected, class Found>
  void expect(NodeId id, std::string_view what, const Expected& expected, const Found& found) const {
    if (!all_compatible(expected, found)) fail_types(id, what, expected, found);
  }

  template <class Expected, class Found>
  [[noreturn]] void fail_types(NodeId id, std::string_view what, const Expected& expected,
                               const Found& found) const {
    fail(id, fmt::format("{}: expected {}, found {}", what, list(expected), list(found)));
  }

  void expect_result(NodeId id, const Node& node, const Type& type) const {
    check_results_exist(id, node);
    expect(id, "result", std::span(&type, 1), node.results);
  }

  void check_results_exist(NodeId id, const Node& node) const {
    for (ValueId result : node.results) {
      if (result.index() >= f_.values.size()) fail(id, fmt::format("there is no value {}", result.value));
    }
  }

  const Module& module_;
  const Function& f_;
  std::vector<Visibility> values_;
  std::vector<ValueId> visible_;  ///< in the order of definition
  std::vector<bool> nodes_seen_;
  std::vector<bool> blocks_seen_;
  const bool has_families_;  ///< some If takes the side of another
  std::map<std::pair<std::size_t, std::size_t>, std::vector<ValueId>>
      defined_by_side_;          ///< by first If and side
  std::vector<BlockWalk> path_;  ///< from the body inwards
  const std::array<Type, 1> one_bool_{DType::Bool};
  std::vector<Type> operand_types_;  ///< types of the operation being checked; kept for their memory
};

}  // namespace

namespace {

/// Also names of parameters of functions: text could not tell them from the variants.
void verify_variants(const Module& module) {
  std::unordered_map<std::string_view, const DataType*> variants;
  for (const Type& data : module.data_types.all()) {
    if (is_built_in(*data.data)) continue;
    if (!is_name(data.data->name) || !is_capitalized(data.data->name)) {
      throw ProgramError(fmt::format("'{}' is no name for a data type", data.data->name));
    }
    if (data.data->variants.empty()) {
      throw ProgramError(fmt::format("data type '{}' has no variants", data.data->name));
    }
    for (const Variant& variant : data.data->variants) {
      if (!is_name(variant.name) || !is_capitalized(variant.name)) {
        throw ProgramError(fmt::format("'{}' is no name for a variant", variant.name));
      }
      const auto [other, added] = variants.emplace(variant.name, data.data.get());
      if (!added) {
        throw ProgramError(fmt::format("data types '{}' and '{}' both have a variant '{}'",
                                       other->second->name, data.data->name, variant.name));
      }
    }
  }
  const auto is_variant = [&](std::string_view name) {
    return is_capitalized(name) && (name == "Nil" || name == "Cons" || variants.contains(name));
  };
  for (const Function& function : module.functions) {
    const bool clashes = is_variant(function.name) ||
                         std::any_of(function.params.begin(), function.params.end(),
                                     [&](const ValueInfo& param) { return is_variant(param.name); });
    if (clashes) {
      throw ProgramError(
          fmt::format("function '{}': it or a parameter has the name of a variant", function.name));
    }
  }
  for (const Parameter& parameter : module.parameters) {
    if (is_variant(parameter.name)) {
      throw ProgramError(fmt::format("parameter '{}' has the name of a variant", parameter.name));
    }
  }
}

}  // namespace

void verify(const Module& module) {
  verify_variants(module);
  if (module.entry.valid() && module.entry.index() >= module.functions.size()) {
    throw ProgramError(
        fmt::format("the entry is function {} of {}", module.entry.index(), module.functions.size()));
  }
  std::unordered_set<std::string_view> names;
  for (const Function& function : module.functions) {
    if (!names.insert(function.name).second) {
      throw ProgramError(fmt::format("function '{}' is defined twice", function.name));
    }
    FunctionVerifier(module, function).run();
  }
}

}  // namespace hiaton::ir
