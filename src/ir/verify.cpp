#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/ir.h"
#include "ir/names.h"

namespace hiaton::ir {
namespace {

std::string list_types(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "" : ", ") + to_string(type);
  return "(" + text + ")";
}

/// Walks the blocks of one function with a stack of its own: nesting is checked, not trusted.
class FunctionVerifier {
 public:
  FunctionVerifier(const Module& module, const Function& function)
      : module_(module),
        f_(function),
        values_(function.values.size(), Visibility::Undefined),
        nodes_seen_(function.nodes.size(), false),
        blocks_seen_(function.blocks.size(), false) {}

  void run() {
    check_signature();
    enter(f_.body);
    while (!path_.empty()) step();
  }

 private:
  enum class Visibility : uint8_t { Undefined, Visible, OutOfScope };

  /// A block that is being walked: which node is next, and how many of its blocks have been walked.
  struct Place {
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
    if (!is_function_name(f_.name)) fail("expected a name that is no keyword and no operation");
    std::unordered_set<std::string_view> names;
    for (const ValueInfo& param : f_.params) {
      if (!is_name(param.name)) fail(fmt::format("'{}' is no name for a parameter", param.name));
      if (!names.insert(param.name).second) fail(fmt::format("two parameters are named '{}'", param.name));
    }
    if (f_.results.empty()) fail("expected at least one result");
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
      fail(fmt::format("expected at most {} branches and loops inside each other, found more", kMaxNesting));
    }
    if (id.index() >= f_.blocks.size()) fail(fmt::format("there is no block {}", id.index()));
    if (blocks_seen_[id.index()]) fail(fmt::format("block {} stands in two places", id.index()));
    blocks_seen_[id.index()] = true;
    path_.push_back({.block = id, .visible_before = visible_.size()});
    for (ValueId param : f_[id].params) define(param);
  }

  void step() {
    Place& place = path_.back();
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
    if (path_.size() == 1 && types_of(block.results) != f_.results) {
      fail(fmt::format("results: expected {}, found {}", list_types(f_.results),
                       list_types(types_of(block.results))));
    }
    const std::size_t visible = path_.back().visible_before;
    for (std::size_t i = visible; i < visible_.size(); ++i)
      values_[visible_[i].index()] = Visibility::OutOfScope;
    visible_.resize(visible);
    path_.pop_back();
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
        expect_result(id, node, node.constant.type());
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

  void check_operation(NodeId id, const Node& node) {
    if (node.op == nullptr) fail(id, "it has no operation");
    if (node.operands.size() != node.op->arity()) {
      fail(id, fmt::format("expected {} operands, found {}", node.op->arity(), node.operands.size()));
    }
    operand_types_.clear();
    for (ValueId operand : node.operands) operand_types_.push_back(f_[operand].type);
    Type result;
    try {
      result = node.op->type_rule.value(operand_types_);
    } catch (const ProgramError& error) {
      fail(id, error.what());
    }
    expect_result(id, node, result);
  }

  void check_call(NodeId id, const Node& node) const {
    if (node.callee.index() >= module_.functions.size()) fail(id, "there is no such function");
    const Function& callee = module_[node.callee];
    std::vector<Type> params;
    for (const ValueInfo& param : callee.params) params.push_back(param.type);
    expect(id, "arguments", params, types_of(node.operands));
    expect(id, "results", callee.results, types_of_results(id, node));
  }

  void check_if(NodeId id, const Node& node) const {
    expect(id, "condition", {DType::Bool}, types_of(node.operands));
    const std::vector<Type> results = types_of_results(id, node);
    if (results.empty()) fail(id, "expected at least one result");
    for (BlockId block : node.blocks) {
      expect(id, "parameters of a branch", {}, types_of(f_[block].params));
      expect(id, "results of a branch", results, types_of(f_[block].results));
    }
  }

  void check_while(NodeId id, const Node& node) const {
    const std::vector<Type> state = types_of(node.operands);
    if (state.empty()) fail(id, "expected at least one loop variable");
    expect(id, "parameters of the condition", state, types_of(f_[node.blocks[0]].params));
    expect(id, "condition", {DType::Bool}, types_of(f_[node.blocks[0]].results));
    expect(id, "parameters of the body", state, types_of(f_[node.blocks[1]].params));
    expect(id, "results of the body", state, types_of(f_[node.blocks[1]].results));
    expect(id, "results", state, types_of_results(id, node));
  }

  void expect(NodeId id, std::string_view what, const std::vector<Type>& expected,
              const std::vector<Type>& found) const {
    if (expected == found) return;
    fail(id, fmt::format("{}: expected {}, found {}", what, list_types(expected), list_types(found)));
  }

  void expect_result(NodeId id, const Node& node, const Type& type) const {
    const bool fits = node.results.size() == 1 && node.results[0].index() < f_.values.size() &&
                      f_[node.results[0]].type == type;
    if (!fits) expect(id, "result", {type}, types_of_results(id, node));
  }

  std::vector<Type> types_of(const std::vector<ValueId>& ids) const {
    std::vector<Type> types;
    types.reserve(ids.size());
    for (ValueId id : ids) types.push_back(f_[id].type);
    return types;
  }

  std::vector<Type> types_of_results(NodeId id, const Node& node) const {
    for (ValueId result : node.results) {
      if (result.index() >= f_.values.size()) fail(id, fmt::format("there is no value {}", result.value));
    }
    return types_of(node.results);
  }

  const Module& module_;
  const Function& f_;
  std::vector<Visibility> values_;
  std::vector<ValueId> visible_;  ///< in the order of definition
  std::vector<bool> nodes_seen_;
  std::vector<bool> blocks_seen_;
  std::vector<Place> path_;          ///< from the body inwards
  std::vector<Type> operand_types_;  ///< of the operation being checked; kept for its memory
};

}  // namespace

void verify(const Module& module) {
  std::unordered_set<std::string_view> names;
  for (const Function& function : module.functions) {
    if (!names.insert(function.name).second) {
      throw ProgramError(fmt::format("function '{}' is defined twice", function.name));
    }
    FunctionVerifier(module, function).run();
  }
}

}  // namespace hiaton::ir
