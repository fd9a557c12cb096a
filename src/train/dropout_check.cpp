#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "hiaton/examples.h"
#include "train/model_sizes.h"

namespace hiaton::train {
namespace {

/// What may be true of a value in some call of its function.
using Facts = unsigned;
constexpr Facts kFromSeed = 1;  ///< it depends on the seed
constexpr Facts kNotZero = 2;   ///< it is another number than zero

/// Which values of the functions that one function reaches depend on its seed, and which dropouts they reach
/// on a way without a condition that does: the least fixed point over their calls.
class SeedUses {
 public:
  SeedUses(const ir::Module& module, ir::FunctionId root, bool has_seed) : module_(module) {
    functions_.resize(module.functions.size());
    OfFunction& of_root = enter(root);
    of_root.is_free = true;
    for (const ir::ValueId param : module[root][module[root].body].params) add(of_root, param, kNotZero);
    if (has_seed) add(of_root, module[root][module[root].body].params.back(), kFromSeed);
    while (has_changed_) {
      has_changed_ = false;
      found_.clear();
      for (std::size_t f = 0; f < functions_.size(); ++f) {
        if (functions_[f].is_reached) visit(ir::FunctionId(f));
      }
    }
  }

  struct Dropout {
    Span span;
    bool is_seeded;  ///< what it draws depends on the seed
  };
  /// Dropouts that the seed does not switch off, with a rate that may be another than zero.
  const std::vector<Dropout>& found() const { return found_; }

 private:
  struct OfFunction {
    bool is_reached = false;
    bool is_free = false;  ///< it is reached on a way without a condition that depends on the seed
    std::vector<Facts> facts;
    Facts results = 0;
  };

  OfFunction& enter(ir::FunctionId id) {
    OfFunction& function = functions_[id.index()];
    if (!function.is_reached) has_changed_ = true;
    function.is_reached = true;
    function.facts.resize(module_[id].values.size());
    return function;
  }

  void add(OfFunction& to, ir::ValueId value, Facts facts) { add(to.facts[value.index()], facts); }
  void add(Facts& to, Facts facts) {
    if ((to | facts) == to) return;
    to |= facts;
    has_changed_ = true;
  }

  template <class Values>
  Facts facts_of(const OfFunction& function, const Values& values) const {
    Facts all = 0;
    for (const ir::ValueId value : values) all |= function.facts[value.index()];
    return all;
  }

  void visit(ir::FunctionId id) {
    const ir::Function& function = module_[id];
    if (!function.body.valid()) return;
    visit(id, function.body, functions_[id.index()].is_free);
    OfFunction& own = functions_[id.index()];
    add(own.results, facts_of(own, function[function.body].results));
  }

  /// `is_free`: no condition around the block depends on the seed.
  void visit(ir::FunctionId id, ir::BlockId block, bool is_free) {
    for (const ir::NodeId node : module_[id][block].nodes) visit(id, module_[id][node], is_free);
  }

  void visit(ir::FunctionId id, const ir::Node& node, bool is_free) {
    OfFunction& own = functions_[id.index()];
    const Facts given = facts_of(own, node.operands);
    Facts made = (given & kFromSeed) | kNotZero;
    if (node.kind == ir::NodeKind::Const) made = is_zero(node.constant) ? 0 : kNotZero;
    if (node.kind == ir::NodeKind::Call) made = call(id, node, is_free);
    if (node.kind == ir::NodeKind::Op && node.op->name.value == "dropout") note_dropout(own, node, is_free);
    if (node.kind == ir::NodeKind::If) {
      for (const ir::BlockId block : node.blocks) {
        visit(id, block, is_free && (given & kFromSeed) == 0);
        made |= facts_of(own, module_[id][block].results);
      }
    }
    if (node.kind == ir::NodeKind::While) made |= loop(id, node, is_free);
    for (const ir::ValueId result : node.results) add(own, result, made);
  }

  Facts call(ir::FunctionId id, const ir::Node& node, bool is_free) {
    OfFunction& callee = enter(node.callee);
    if (is_free && !callee.is_free) {
      callee.is_free = true;
      has_changed_ = true;
    }
    const ir::Function& function = module_[node.callee];
    if (!function.body.valid()) return facts_of(functions_[id.index()], node.operands) | kNotZero;
    const ir::ValueIds& params = function[function.body].params;
    for (std::size_t i = 0; i < std::min<std::size_t>(params.size(), node.operands.size()); ++i)
      add(callee, params[i], functions_[id.index()].facts[node.operands[i].index()]);
    return callee.results;
  }

  Facts loop(ir::FunctionId id, const ir::Node& node, bool is_free) {
    OfFunction& own = functions_[id.index()];
    const ir::Block& condition = module_[id][node.blocks[0]];
    const ir::Block& body = module_[id][node.blocks[1]];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Facts state = own.facts[node.operands[i].index()] | own.facts[body.results[i].index()];
      add(own, condition.params[i], state);
      add(own, body.params[i], state);
    }
    visit(id, node.blocks[0], is_free);
    const Facts decided = facts_of(own, condition.results);
    visit(id, node.blocks[1], is_free && (decided & kFromSeed) == 0);
    return (decided & kFromSeed) | facts_of(own, body.results);
  }

  void note_dropout(const OfFunction& own, const ir::Node& node, bool is_free) {
    const Facts rate = own.facts[node.operands[1].index()];
    const bool is_seeded = (own.facts[node.operands[2].index()] & kFromSeed) != 0;
    if (is_free && rate == kNotZero) found_.push_back({node.span, is_seeded});
  }

  static bool is_zero(const Value& constant) {
    return constant.is_scalar() && constant == zero_of(constant.dtype());
  }

  const ir::Module& module_;
  std::vector<OfFunction> functions_;
  std::vector<Dropout> found_;
  bool has_changed_ = true;
};

std::string place_of(const ir::Module& module, Span span) {
  return module.source != nullptr && span.known() ? " at " + module.source->place_of(span.begin) : "";
}

}  // namespace

std::vector<std::string> dropout_warnings(const Model& model, bool evaluates_loss) {
  const ir::Module& module = model.module();
  std::vector<std::string> warnings;
  const auto find = [&](std::string_view function, bool has_seed,
                        bool is_seeded) -> std::optional<std::string> {
    const std::optional<ir::FunctionId> root = module.find(function);
    if (!root) return std::nullopt;
    const SeedUses uses(module, *root, has_seed);
    const auto found = std::ranges::find(uses.found(), is_seeded, &SeedUses::Dropout::is_seeded);
    if (found == uses.found().end()) return std::nullopt;
    return place_of(module, found->span);
  };
  const bool has_seed = takes_seed(model.loss_program());
  if (const auto place = find("loss", has_seed, false)) {
    warnings.push_back(fmt::format(
        "the dropout{} drops the same elements in each step: its seed does not come from the last "
        "parameter 'seed: i64' of 'loss'",
        *place));
  }
  if (const auto place = evaluates_loss ? find("loss", has_seed, true) : std::nullopt) {
    warnings.push_back(fmt::format(
        "the dropout{} drops elements in evaluations, too, which call 'loss' with the seed 0: give it "
        "the rate 'if seed == 0 then 0.0 else RATE'",
        *place));
  }
  for (const std::string_view function : {"predict", "metrics"}) {
    if (const auto place = find(function, false, false))
      warnings.push_back(fmt::format("the dropout{} drops elements in '{}', too: give it the rate 0.0 there",
                                     *place, function));
  }
  return warnings;
}

}  // namespace hiaton::train
