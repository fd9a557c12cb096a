#include <algorithm>
#include <optional>
#include <utility>

#include "hiaton/passes.h"
#include "passes/rewrite.h"
#include "passes/simplifications.h"
#include "properties/generate.h"

namespace hiaton::properties {
namespace {

using ir::FunctionId;
using ir::NodeId;
using ir::NodeKind;
using ir::ValueId;

/// What to do with one node.
enum class Change : uint8_t {
  ToOperand,  ///< `argument`: which
  ToParam,    ///< a parameter of the function; `argument`: which
  ToZero,
  ToOne,
  TakeBlock,   ///< a block of an If or, once, of a While; `argument`: which
  DropResult,  ///< a result of an If, or a variable of a While; `argument`: which
  Inline,
  Halve,  ///< a constant
  Unplace,
};

struct Edit {
  NodeId node;
  Change change;
  std::size_t argument = 0;
};

Value number(DType dtype, int value) {
  const Value wide(static_cast<double>(value));
  const Type from(DType::F64);
  Slot result;
  catalog().find(name_of(dtype))->find_kernel(from.dtype)->wrap(&wide.slot(), &result);
  return Value(dtype, result);
}

std::optional<Value> half(const Value& value) {
  switch (value.dtype()) {
    case DType::U8:
      return Value(static_cast<uint8_t>(value.as<uint8_t>() / 2));
    case DType::I32:
      return Value(value.as<int32_t>() / 2);
    case DType::I64:
      return Value(value.as<int64_t>() / 2);
    default:
      return std::nullopt;
  }
}

/// Rebuilds one function with one change, which must fit the node.
class Changed : public passes::Rewriter {
 public:
  Changed(const ir::Module& module, const ir::Node& node, Edit edit)
      : module_(module), node_(&node), edit_(edit) {}

 protected:
  void visit(const ir::Node& node) override {
    if (&node != node_) return emit_copy(node);
    switch (edit_.change) {
      case Change::ToOperand:
        return map(node.results[0], mapped(node.operands[edit_.argument]));
      case Change::ToParam:
        return map(node.results[0], mapped(old()[old().body].params[edit_.argument]));
      case Change::ToZero:
      case Change::ToOne:
        return to_constants(node, edit_.change == Change::ToOne ? 1 : 0);
      case Change::TakeBlock:
        return take_block(node, node.blocks[edit_.argument]);
      case Change::DropResult:
        return drop_result(node);
      case Change::Inline:
        return map_all(node.results, splice(module_[node.callee], mapped(node.operands)));
      case Change::Halve:
        return map(node.results[0], emit_constant(*half(node.constant), node));
      case Change::Unplace:
        ir::Node unplaced = copy(node);
        unplaced.placement = {};
        return emit(std::move(unplaced), node.results);
    }
  }

 private:
  void map_all(std::span<const ValueId> old_values, std::span<const ValueId> new_values) {
    for (std::size_t i = 0; i < old_values.size(); ++i) map(old_values[i], new_values[i]);
  }

  void to_constants(const ir::Node& node, int value) {
    for (const ValueId result : node.results) {
      map(result, emit_constant(number(old()[result].type.dtype, value), node));
    }
  }

  void take_block(const ir::Node& node, ir::BlockId block) {
    if (node.kind == NodeKind::While) map_all(old()[block].params, mapped(node.operands));
    visit_nodes(block);
    const bool gives_state = node.kind == NodeKind::If || block == node.blocks[1];
    map_all(node.results, mapped(gives_state ? old()[block].results : node.operands));
  }

  void drop_result(const ir::Node& node) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      if (i != edit_.argument) kept.push_back(i);
    }
    ir::Node trimmed{.kind = node.kind, .span = node.span, .placement = node.placement};
    const ValueId dropped = node.results[edit_.argument];
    if (node.kind == NodeKind::If) {
      trimmed.operands = mapped(node.operands);
      map(dropped, emit_constant(zero_of(old()[dropped].type.dtype), node));
      for (const ir::BlockId block : node.blocks) trimmed.blocks.push_back(rebuild(block, {}, kept));
    } else {
      const ValueId initial = mapped(node.operands[edit_.argument]);
      const std::size_t only[] = {0};
      map(dropped, initial);
      for (const ir::BlockId block : node.blocks) map(old()[block].params[edit_.argument], initial);
      for (const std::size_t i : kept) trimmed.operands.push_back(mapped(node.operands[i]));
      trimmed.blocks.push_back(rebuild(node.blocks[0], kept, only));
      trimmed.blocks.push_back(rebuild(node.blocks[1], kept, kept));
    }
    std::vector<ValueId> results;
    for (const std::size_t i : kept) results.push_back(node.results[i]);
    emit(std::move(trimmed), results);
  }

  const ir::Module& module_;
  const ir::Node* node_;
  Edit edit_;
};

/// Rebuilds a function without constants that nobody uses.
class Tidied : public passes::Rewriter {
 public:
  explicit Tidied(const ir::Function& function) : used_(function.values.size(), false) {
    for (const ir::Node& node : function.nodes) mark(node.operands);
    for (const ir::Block& block : function.blocks) mark(block.results);
  }

 protected:
  void visit(const ir::Node& node) override {
    if (node.kind != NodeKind::Const || used_[node.results[0].index()]) emit_copy(node);
  }

 private:
  void mark(std::span<const ValueId> values) {
    for (const ValueId value : values) used_[value.index()] = true;
  }
  std::vector<bool> used_;
};

/// Rebuilds a function after parameter or result `index` of function `changed` went.
class WithoutPort : public passes::Rewriter {
 public:
  WithoutPort(FunctionId changed, std::size_t index, bool is_param)
      : changed_(changed), index_(index), is_param_(is_param) {}

  ir::Function rewrite_changed(const ir::Function& function) {
    ir::Function trimmed = rewrite(function);
    const auto at = static_cast<std::ptrdiff_t>(index_);
    ir::ValueIds& values = is_param_ ? trimmed[trimmed.body].params : trimmed[trimmed.body].results;
    const ValueId dropped = values[index_];
    values.erase(values.begin() + at);
    if (!is_param_) {
      trimmed.results.erase(trimmed.results.begin() + at);
      return trimmed;
    }
    const Value zero = zero_of(trimmed.params[index_].type.dtype);
    trimmed.params.erase(trimmed.params.begin() + at);
    auto& nodes = trimmed[trimmed.body].nodes;
    nodes.insert(nodes.begin(), NodeId(trimmed.nodes.size()));
    trimmed.nodes.push_back({.kind = NodeKind::Const, .constant = zero, .results = {dropped}});
    return trimmed;
  }

 protected:
  void visit(const ir::Node& node) override {
    if (node.kind != NodeKind::Call || node.callee != changed_) return emit_copy(node);
    ir::Node call = copy(node);
    ir::ValueIds results = node.results;
    const auto at = static_cast<std::ptrdiff_t>(index_);
    if (is_param_) {
      call.operands.erase(call.operands.begin() + at);
    } else {
      const ValueId dropped = results[index_];
      map(dropped, emit_constant(zero_of(old()[dropped].type.dtype), node));
      results.erase(results.begin() + at);
    }
    emit(std::move(call), results);
  }

 private:
  FunctionId changed_;
  std::size_t index_;
  bool is_param_;
};

ir::Module tidied(ir::Module module) {
  for (ir::Function& function : module.functions) function = Tidied(function).rewrite(function);
  passes::drop_unreachable(module);
  return module;
}

std::vector<Edit> edits_of_constant(const ir::Node& node, NodeId id) {
  const DType dtype = node.constant.dtype();
  if (node.constant == number(dtype, 0)) return {};
  if (node.constant == number(dtype, 1)) return {{id, Change::ToZero}};
  std::vector<Edit> edits{{id, Change::ToZero}, {id, Change::ToOne}};
  const std::optional<Value> smaller = half(node.constant);
  if (smaller && *smaller != number(dtype, 0) && *smaller != number(dtype, 1))
    edits.push_back({id, Change::Halve});
  return edits;
}

/// Which changes fit a node, those first that take away most.
std::vector<Edit> edits_of(const ir::Module& module, const ir::Function& function, NodeId id) {
  const ir::Node& node = function[id];
  if (node.kind == NodeKind::Const) return edits_of_constant(node, id);
  std::vector<Edit> edits{{id, Change::ToZero}, {id, Change::ToOne}};
  const auto has_type_of_result = [&](ValueId value) {
    return node.results.size() == 1 && function[value].type == function[node.results[0]].type;
  };
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (has_type_of_result(node.operands[i])) edits.push_back({id, Change::ToOperand, i});
  }
  const ir::ValueIds& params = function[function.body].params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (has_type_of_result(params[i])) edits.push_back({id, Change::ToParam, i});
  }
  for (std::size_t i = 0; i < node.blocks.size(); ++i) edits.push_back({id, Change::TakeBlock, i});
  for (std::size_t i = 0; !node.blocks.empty() && node.results.size() > 1 && i < node.results.size(); ++i) {
    edits.push_back({id, Change::DropResult, i});
  }
  if (node.kind == NodeKind::Call && &module[node.callee] != &function) edits.push_back({id, Change::Inline});
  if (!node.placement.empty()) edits.push_back({id, Change::Unplace});
  return edits;
}

std::size_t size_of(const Program& program) {
  std::size_t size = 0;
  for (const ir::Function& function : program.module.functions) {
    size += 1 + function.params.size() + function.results.size() + function.nodes.size();
    for (const ir::Node& node : function.nodes) {
      if (node.kind != NodeKind::Const) size += node.results.size();  // what is constant is smaller
      if (!node.placement.empty()) ++size;
    }
  }
  return size;
}

class Shrinker {
 public:
  Shrinker(Program program, const std::function<bool(const Program&)>& still_wrong)
      : best_(std::move(program)), still_wrong_(still_wrong) {}

  Program shrink() {
    try_program(with_module(tidied(best_.module)));
    bool any = true;
    while (any) {
      any = false;
      for (std::size_t f = 0; f < best_.module.functions.size(); ++f) {
        while (shrink_ports(FunctionId(f), true)) any = true;
        while (f < best_.module.functions.size() && shrink_ports(FunctionId(f), false)) any = true;
        if (f < best_.module.functions.size() && shrink_nodes(FunctionId(f))) any = true;
      }
      if (shrink_arguments()) any = true;
    }
    return std::move(best_);
  }

 private:
  Program with_module(ir::Module module) const {
    return {.seed = best_.seed,
            .danger = best_.danger,
            .module = std::move(module),
            .arguments = best_.arguments};
  }

  bool try_program(Program candidate) {
    if (!still_wrong_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool shrink_nodes(FunctionId id) {
    bool any = false;
    for (std::size_t n = 0; n < best_.module[id].nodes.size(); ++n) {
      while (id.index() < best_.module.functions.size() && n < best_.module[id].nodes.size() &&
             shrink_node(id, NodeId(n))) {
        any = true;
      }
      if (id.index() >= best_.module.functions.size()) break;
    }
    return any;
  }

  bool shrink_node(FunctionId id, NodeId node) {
    const ir::Function& function = best_.module[id];
    for (const Edit edit : edits_of(best_.module, function, node)) {
      ir::Module changed = best_.module;
      changed[id] = Changed(best_.module, function[node], edit).rewrite(function);
      Program candidate = with_module(tidied(std::move(changed)));
      const bool keeps_shape = edit.change == Change::Halve || function[node].kind == NodeKind::Const;
      if (!keeps_shape && size_of(candidate) >= size_of(best_)) continue;
      if (try_program(std::move(candidate))) return true;
    }
    return false;
  }

  bool shrink_ports(FunctionId id, bool params) {
    const ir::Function& function = best_.module[id];
    const std::size_t count = params ? function.params.size() : function.results.size();
    for (std::size_t i = 0; i < count && (params || count > 1); ++i) {
      ir::Module changed;
      for (const ir::Function& each : best_.module.functions) {
        WithoutPort without(id, i, params);
        changed.functions.push_back(&each == &function ? without.rewrite_changed(each)
                                                       : without.rewrite(each));
      }
      Program candidate = with_module(tidied(std::move(changed)));
      if (params && function.name == "main") {
        candidate.arguments.erase(candidate.arguments.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (try_program(std::move(candidate))) return true;
    }
    return false;
  }

  bool shrink_arguments() {
    bool any = false;
    for (std::size_t i = 0; i < best_.arguments.size(); ++i) {
      const Value zero = zero_of(best_.arguments[i].dtype());
      for (const std::optional<Value>& simpler : {std::optional<Value>(zero), half(best_.arguments[i])}) {
        if (!simpler || *simpler == best_.arguments[i]) continue;
        Program candidate = best_;
        candidate.arguments[i] = *simpler;
        any = try_program(std::move(candidate)) || any;
      }
    }
    return any;
  }

  Program best_;
  const std::function<bool(const Program&)>& still_wrong_;
};

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& still_wrong) {
  return Shrinker(std::move(program), still_wrong).shrink();
}

}  // namespace hiaton::properties
