#include <map>
#include <optional>

#include "hiaton/builder.h"
#include "passes/body_copier.h"
#include "passes/call_graph.h"
#include "passes/suspended_types.h"

namespace hiaton::passes {
namespace {

/// Copies a body; what gives several results gives a tuple of them, which is taken apart behind it.
class TupleCopier : public BodyCopier {
 public:
  TupleCopier(const ir::Function& from, FunctionBuilder& to, DataTypes& types,
              const std::vector<FunctionRef>& functions)
      : BodyCopier(from, to), types_(types), functions_(functions) {}

  Var packed(std::span<const ir::ValueId> values) {
    const std::vector<Var> vars = mapped(values);
    if (vars.size() == 1) return vars[0];
    std::vector<ir::ValueId> ids;
    std::vector<Type> parts;
    for (const Var var : vars) {
      ids.push_back(var.id());
      parts.push_back(var.type());
    }
    if (const auto same = tuple_of_.find(ids); same != tuple_of_.end()) return same->second;
    return to_.make(types_.tuple_of(parts), 0, vars);
  }

 protected:
  FunctionRef callee_of(ir::NodeId id) override { return functions_[from_[id].callee.index()]; }

  void visit(ir::NodeId id) override {
    const ir::Node& node = from_[id];
    if (node.kind == ir::NodeKind::Call) {
      unpack(node.results, to_.call(callee_of(id), mapped(node.operands)));
    } else if (node.kind == ir::NodeKind::If) {
      const ir::BlockId then = copy_side(node.blocks[0]);
      const ir::BlockId otherwise = copy_side(node.blocks[1]);
      begin(node);
      unpack(node.results, to_.finish_if(mapped(node.operands[0]), then, otherwise));
    } else {
      copy(id);
    }
  }

 private:
  ir::BlockId copy_side(ir::BlockId block) {
    const ir::BlockId copy = to_.begin_block({});
    copy_nodes(block);
    to_.end_block(copy, packed(from_[block].results));
    return copy;
  }

  void unpack(std::span<const ir::ValueId> results, Var given) {
    if (results.size() == 1) return map(results[0], given);
    std::vector<ir::ValueId> ids;
    for (std::size_t i = 0; i < results.size(); ++i) {
      map(results[i], to_.field(given, 0, i));
      ids.push_back(mapped(results[i]).id());
    }
    tuple_of_[ids] = given;
  }

  DataTypes& types_;
  const std::vector<FunctionRef>& functions_;
  std::map<std::vector<ir::ValueId>, Var> tuple_of_;  ///< by all of its parts
};

}  // namespace

ir::Module single_results(const ir::Module& module) {
  const CallGraph calls = call_graph(module);
  const ir::FunctionId entry = *module.start();
  const std::vector<bool> reached = reachable(calls, entry);
  bool is_entry_called = false;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const ir::FunctionId callee : calls.callees[i])
      is_entry_called = is_entry_called || (reached[i] && callee == entry);
  }
  ModuleBuilder builder(module.source);
  builder.module().data_types = module.data_types;
  DataTypes& types = builder.module().data_types;
  std::vector<FunctionRef> functions(module.functions.size());
  const auto declare = [&](const ir::Function& function, bool is_entry) {
    std::vector<Type> results = function.results;
    if (results.size() > 1 && !is_entry) results = {types.tuple_of(results)};
    const FunctionRef made =
        builder.declare(builder.unused_name(function.name), function.params, std::move(results));
    builder.module()[made.id].span = function.span;
    return made;
  };
  const FunctionRef program = declare(module[entry], true);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] && (ir::FunctionId(i) != entry || is_entry_called))
      functions[i] = declare(module.functions[i], false);
  }
  const auto define = [&](const ir::Function& function, FunctionRef made, bool is_entry) {
    builder.define(made, [&](FunctionBuilder& f) -> Vars {
      TupleCopier copier(function, f, types, functions);
      for (std::size_t i = 0; i < function.params.size(); ++i)
        copier.map(function[function.body].params[i], f.param(i));
      copier.copy_nodes(function.body);
      if (is_entry) return Vars(copier.mapped(function[function.body].results));
      return copier.packed(function[function.body].results);
    });
  };
  define(module[entry], program, true);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (functions[i].id.valid()) define(module.functions[i], functions[i], false);
  }
  ir::Module made = builder.finish();
  made.entry = program.id;
  return made;
}

}  // namespace hiaton::passes
