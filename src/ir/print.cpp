// Modules as program text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "hiaton/error.h"
#include "hiaton/ir.h"
#include "ir/names.h"
#include "ir/print_parts.h"

namespace hiaton::ir {
namespace {

constexpr std::size_t kLongestInlined = 40;

/// How strongly the outermost operator of a text binds.
enum Level : int { kNot = 1, kComparison, kSum, kProduct, kPrefix, kAtom };

struct Text {
  std::string text;
  Level level = kAtom;
};

Level level_of(std::string_view symbol) {
  if (symbol == "+" || symbol == "-") return kSum;
  if (symbol == "*" || symbol == "/" || symbol == "%" || symbol == "@") return kProduct;
  return kComparison;
}

std::string new_line(std::size_t indent) {
  return "\n" + std::string(indent, ' ');
}

std::string in_parentheses(std::string_view text) {
  return fmt::format("({})", text);
}

std::string in_parentheses_unless(bool plain, const Text& text) {
  return plain ? text.text : in_parentheses(text.text);
}

/// Prints one function.
///
/// Every node becomes a `let`, except that an operation or call that is used once, by a node after it in the
/// same block, may stand inside the expression of that node. Such texts wait in a stack; they are used in the
/// order in which they were pushed, or else become `let`s, so that reading the text gives the nodes in their
/// old order.
class FunctionPrinter {
 public:
  FunctionPrinter(const Module& module, const Function& function,
                  const std::unordered_set<std::string_view>& function_names,
                  const std::unordered_set<const OpDef*>& shadowed, std::string& out)
      : module_(module),
        f_(function),
        out_(out),
        names_(function_names),
        shadowed_(shadowed),
        texts_(function.values.size()),
        origins_(function.values.size(), nullptr),
        uses_(function.values.size(), 0) {
    for (const Node& node : f_.nodes) {
      if (stands_nowhere(node)) origins_[node.results[0].index()] = &node;
      for (ValueId operand : node.operands) ++uses_[operand.index()];
    }
    for (const Block& block : f_.blocks) {
      for (ValueId result : block.results) ++uses_[result.index()];
    }
  }

  void run() {
    print_head();
    if (!f_.body.valid()) return print_request();
    out_ += " =";
    print_block(f_.body, 0, 2);
    out_ += '\n';
  }

 private:
  struct Waiting {
    ValueId value;
    Text text;
    std::string_view placement;
  };

  /// Constants and learned parameters: they stand where they are used.
  static bool stands_nowhere(const Node& node) {
    return node.kind == NodeKind::Const || node.kind == NodeKind::Param;
  }

  bool is_constant(ValueId value) const {
    const Node* origin = origins_[value.index()];
    return origin != nullptr && origin->kind == NodeKind::Const;
  }

  // The head.

  void print_head() {
    out_ += fmt::format("fn {}(", f_.name);
    for (std::size_t i = 0; i < f_.params.size(); ++i) {
      const ValueInfo& param = f_.params[i];
      out_ += fmt::format("{}{}: {}", i == 0 ? "" : ", ", param.name, to_string(param.type));
      if (f_.body.valid()) give_name(f_[f_.body].params[i], param.name);
    }
    out_ += ") -> ";
    std::string results;
    for (const Type& type : f_.results) results += (results.empty() ? "" : ", ") + to_string(type);
    // What stands in parentheses are several results, but for one that is a tuple.
    const bool is_plain = f_.results.size() == 1 && !is_tuple(f_.results[0]);
    out_ += is_plain ? results : in_parentheses(results);
    if (f_.recompute) out_ += " recompute";
    if (!f_.placement.empty()) out_ += fmt::format(" on {}", quoted(f_.placement));
  }

  /// The gradient of another function, which is still to be derived; the head alone where it is none, as in a
  /// module that is still being made.
  void print_request() {
    const GradientRequest* request =
        module_.gradient_request(FunctionId(static_cast<std::size_t>(&f_ - module_.functions.data())));
    if (request != nullptr) out_ += " = " + gradient_text(module_, *request);
    out_ += '\n';
  }

  // Values.

  void give_name(ValueId value, const std::string& name) {
    names_.use(name);
    texts_[value.index()] = name;
  }

  Text text_of(ValueId value) const {
    const Node* origin = origins_[value.index()];
    if (origin == nullptr) return {texts_[value.index()], kAtom};
    if (origin->kind == NodeKind::Const) return {literal(origin->constant, f_[value].type), kAtom};
    const std::string& name = module_.parameters[static_cast<std::size_t>(origin->attributes[0])].name;
    return {names_.is_taken(name) ? "param " + name : name, kAtom};
  }

  /// The texts of the values, taken off the waiting ones. Whatever waits and may not stand here, in front of
  /// or between them, becomes a `let` first.
  std::vector<Text> take(std::span<const ValueId> values, std::string_view placement, bool may_leave_others) {
    if (!last_waiting_are(values, placement, may_leave_others)) flush();
    std::vector<Text> texts(values.size());
    for (std::size_t i = values.size(); i-- > 0;) {
      if (!waiting_.empty() && waiting_.back().value == values[i]) {
        texts[i] = std::move(waiting_.back().text);
        waiting_.pop_back();
      } else {
        texts[i] = text_of(values[i]);
      }
    }
    return texts;
  }

  bool is_waiting(ValueId value) const {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.value == value; });
  }

  bool last_waiting_are(std::span<const ValueId> values, std::string_view placement,
                        bool may_leave_others) const {
    std::size_t left = waiting_.size();
    for (std::size_t i = values.size(); i-- > 0;) {
      if (!is_waiting(values[i])) continue;
      if (left == 0 || waiting_[left - 1].value != values[i] || waiting_[left - 1].placement != placement) {
        return false;
      }
      --left;
    }
    return may_leave_others || left == 0;
  }

  /// All waiting texts become `let`s.
  void flush() {
    for (const Waiting& oldest : waiting_) {
      const std::string name = names_.choose("");
      out_.append(line_start_).append("let ").append(name).append(" = ");
      out_ += placed(oldest.text, oldest.placement);
      give_name(oldest.value, name);
    }
    waiting_.clear();
  }

  std::string placed(const Text& text, std::string_view placement) const {
    if (placement == placement_) return text.text;
    return fmt::format("on {} {}", quoted(placement), in_parentheses_unless(text.level == kAtom, text));
  }

  // Blocks.

  /// Prints the block behind what stands there already, in a line that is indented by `line_indent`: in the
  /// same line where the block is one expression, else in lines indented by `indent`.
  void print_block(BlockId id, std::size_t line_indent, std::size_t indent) {
    const Block& block = f_[id];
    const std::size_t names_before = names_.size();
    const std::string line_start_around = std::exchange(line_start_, new_line(indent));
    const std::size_t begin = out_.size();

    const NodeId* last = last_expression(block);
    for (const NodeId& node : block.nodes) {
      if (&node != last) print_node(f_[node], indent);
    }
    if (last == nullptr) {
      const std::string results = tuple(block.results);
      add_last_expression(begin, results);
    } else if (is_structure(f_[*last])) {
      const std::vector<Text> operands = take(f_[*last].operands, f_[*last].placement, false);
      const bool same_line = out_.size() == begin;
      begin_last_expression(begin);
      print_structure(f_[*last], operands, same_line ? line_indent : indent);
    } else {
      const Text text = expression(f_[*last], false);
      add_last_expression(begin, placed(text, f_[*last].placement));
    }

    names_.forget_down_to(names_before);
    line_start_ = line_start_around;
  }

  void begin_last_expression(std::size_t block_begin) {
    if (out_.size() == block_begin) {
      out_ += ' ';
    } else {
      out_ += line_start_;
    }
  }

  void add_last_expression(std::size_t block_begin, const std::string& text) {
    const bool same_line = out_.size() == block_begin;
    begin_last_expression(block_begin);
    // A line that starts with an operator would continue the line before.
    const bool would_continue = text.starts_with('-') || text.starts_with("and(") || text.starts_with("or(");
    out_ += would_continue && !same_line ? in_parentheses(text) : text;
  }

  static bool is_structure(const Node& node) { return !node.blocks.empty(); }

  /// The last node, where its results are the results of the block.
  const NodeId* last_expression(const Block& block) const {
    for (std::size_t i = block.nodes.size(); i-- > 0;) {
      const Node& node = f_[block.nodes[i]];
      if (!stands_nowhere(node)) return node.results == block.results ? &block.nodes[i] : nullptr;
    }
    return nullptr;
  }

  std::string tuple(std::span<const ValueId> values) {
    const std::vector<Text> texts = take(values, placement_, false);
    if (texts.size() == 1) return texts[0].text;
    std::string text;
    for (const Text& element : texts) text += (text.empty() ? "" : ", ") + element.text;
    return in_parentheses(text);
  }

  // Nodes.

  void print_node(const Node& node, std::size_t indent) {
    if (stands_nowhere(node)) return;
    if (is_structure(node)) {
      const std::vector<Text> operands = take(node.operands, node.placement, false);
      const std::vector<std::string> names = begin_let(node);
      print_structure(node, operands, indent);
      give_names(node.results, names);
      return;
    }
    Text text = expression(node, true);
    if (may_wait(node, text)) {
      waiting_.push_back({node.results[0], std::move(text), node.placement});
      return;
    }
    flush();
    const std::vector<std::string> names = begin_let(node);
    out_ += placed(text, node.placement);
    give_names(node.results, names);
  }

  bool may_wait(const Node& node, const Text& text) const {
    if (node.results.size() != 1 || uses_[node.results[0].index()] != 1) return false;
    if (!f_[node.results[0]].name.empty() || text.text.size() > kLongestInlined) return false;
    // Literals alone take their type from what stands around them, and then come after it.
    return node.kind == NodeKind::Call || !std::all_of(node.operands.begin(), node.operands.end(),
                                                       [&](ValueId id) { return is_constant(id); });
  }

  /// Chooses the names; what follows in the `let` does not see them yet.
  std::vector<std::string> begin_let(const Node& node) {
    std::vector<std::string> names;
    for (ValueId result : node.results) {
      if (uses_[result.index()] == 0 && f_[result].name.empty()) {
        names.emplace_back("_");
        continue;
      }
      const std::string name = names_.choose(f_[result].name);
      const bool twice = std::find(names.begin(), names.end(), name) != names.end();
      names.push_back(twice ? names_.choose("") : name);
    }
    std::string list;
    for (std::size_t i = 0; i < names.size(); ++i) {
      list += (i == 0 ? "" : ", ") + names[i];
      // Branches whose sizes differ want a type that leaves them open.
      const Type& type = f_[node.results[i]].type;
      const bool is_open = std::find(type.shape.begin(), type.shape.end(), unknown_dim()) != type.shape.end();
      if (node.kind == NodeKind::If && is_open) list += ": " + to_string(type);
    }
    out_.append(line_start_)
        .append("let ")
        .append(names.size() == 1 ? list : in_parentheses(list))
        .append(" = ");
    return names;
  }

  void give_names(std::span<const ValueId> values, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != "_") give_name(values[i], names[i]);
    }
  }

  /// An operation or a call without its placement.
  Text expression(const Node& node, bool may_leave_others) {
    std::vector<Text> operands = take(node.operands, node.placement, may_leave_others);
    if (node.kind == NodeKind::Call) return {call(module_[node.callee].name, operands), kAtom};
    if (node.op->role == Role::Make) {
      const Type& data = f_[node.results[0]].type;
      return {call(variant_name(data, static_cast<std::size_t>(node.attributes[0])), operands), kAtom};
    }
    if (node.op->fusion.value == Fusion::Tensor && node.op->symbol.empty()) {
      return {call_on_tensors(node, std::move(operands)), kAtom};
    }
    const std::string_view symbol = node.op->symbol;
    const bool plain_prefix = operands.size() == 1 && !is_constant(node.operands[0]);
    if (symbol == "not") {
      return {fmt::format("not {}", in_parentheses_unless(operands[0].level >= kComparison, operands[0])),
              kNot};
    }
    if (symbol == "-" && plain_prefix) {
      return {fmt::format("-{}", in_parentheses_unless(operands[0].level >= kPrefix, operands[0])), kPrefix};
    }
    if (symbol.empty() || operands.size() != 2) {
      return {call(operation_name(*node.op), operands, node.op->attribute_texts(node.attributes)), kAtom};
    }
    return infix(symbol, operands);
  }

  static Text infix(std::string_view symbol, const std::vector<Text>& operands) {
    const Level level = level_of(symbol);
    const bool chains = level != kComparison;
    return {fmt::format("{} {} {}",
                        in_parentheses_unless(
                            operands[0].level > level || (chains && operands[0].level == level), operands[0]),
                        symbol, in_parentheses_unless(operands[1].level > level, operands[1])),
            level};
  }

  std::string operation_name(const OpDef& op) const {
    return (shadowed_.contains(&op) ? "::" : "") + std::string(op.name.value);
  }

  static std::string call(std::string_view name, const std::vector<Text>& arguments,
                          const std::vector<std::string>& attributes = {}) {
    std::string text;
    for (const Text& argument : arguments) text += (text.empty() ? "" : ", ") + argument.text;
    for (const std::string& attribute : attributes) text += (text.empty() ? "" : ", ") + attribute;
    return fmt::format("{}({})", name, text);
  }

  /// Numbers among the operands do not take after the others here.
  std::string call_on_tensors(const Node& node, std::vector<Text> operands) const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Node* origin = origins_[node.operands[i].index()];
      const bool is_f64 = origin != nullptr && origin->kind == NodeKind::Const &&
                          origin->constant.is_scalar() && origin->constant.dtype() == DType::F64;
      if (is_f64 && std::isfinite(origin->constant.as<double>())) operands[i].text += "f64";
    }
    return call(operation_name(*node.op), operands, node.op->attribute_texts(node.attributes));
  }

  // Branches and loops: `indent` is that of the line in which they begin.

  void print_structure(const Node& node, const std::vector<Text>& operands, std::size_t indent) {
    const std::string_view placement_around = placement_;
    if (node.placement != placement_) out_.append("on ").append(quoted(node.placement)).append(" ");
    placement_ = node.placement;
    if (node.kind == NodeKind::If) {
      print_if(node, operands[0], indent);
    } else {
      print_while(node, operands, indent);
    }
    placement_ = placement_around;
  }

  void print_if(const Node& node, const Text& condition, std::size_t indent) {
    out_.append("if ").append(condition.text).append(" then");
    print_block(node.blocks[0], indent, indent + 2, "else", indent);
    print_block(node.blocks[1], indent, indent + 2);
  }

  void print_while(const Node& node, const std::vector<Text>& initial, std::size_t indent) {
    const std::size_t names_before = names_.size();
    const ValueIds& in_condition = f_[node.blocks[0]].params;
    const ValueIds& in_body = f_[node.blocks[1]].params;
    for (std::size_t i = 0; i < in_body.size(); ++i) {
      const SharedString& wanted = f_[in_body[i]].name;
      const std::string name = names_.choose(wanted.empty() ? f_[in_condition[i]].name : wanted);
      give_name(in_body[i], name);
      texts_[in_condition[i].index()] = name;
      out_.append(i == 0 ? "with " : ", ").append(name);
      const Type& type = f_[in_body[i]].type;
      if (type != f_[node.operands[i]].type) out_.append(": ").append(to_string(type));
      out_.append(" = ").append(initial[i].text);
    }
    out_ += " while";
    print_block(node.blocks[0], indent, indent + 4, "do", indent);
    print_block(node.blocks[1], indent, indent + 2);
    names_.forget_down_to(names_before);
  }

  /// Then the word that ends the block: in a line of its own behind a block of several lines.
  void print_block(BlockId id, std::size_t line_indent, std::size_t indent, std::string_view end,
                   std::size_t end_indent) {
    const std::size_t begin = out_.size();
    print_block(id, line_indent, indent);
    const bool one_line = out_.find('\n', begin) == std::string::npos;
    out_ += one_line ? std::string(" ") : new_line(end_indent);
    out_ += end;
  }

  const Module& module_;
  const Function& f_;
  std::string& out_;
  Names names_;
  const std::unordered_set<const OpDef*>& shadowed_;  ///< functions have their names
  std::vector<std::string> texts_;                    ///< by value: its name
  std::vector<const Node*> origins_;                  ///< by value: the Const or Param it comes from
  std::vector<uint32_t> uses_;
  std::vector<Waiting> waiting_;  ///< what waits in the block that is printed, oldest first
  std::string line_start_;        ///< a line break and the indentation of the block that is printed
  std::string_view placement_;    ///< what the text around says
};

/// What gradients add to functions stands in no program.
void require_text(const Function& function) {
  for (const Node& node : function.nodes) {
    if (node.kind == NodeKind::Resume || node.kind == NodeKind::Accumulate || node.of.valid()) {
      throw ProgramError(
          fmt::format("function '{}' gathers gradients: no program text says how", function.name));
    }
  }
}

}  // namespace

std::string print(const Module& module) {
  for (const Function& function : module.functions) require_text(function);
  std::unordered_set<std::string_view> names;
  std::unordered_set<const OpDef*> shadowed;
  for (const Function& function : module.functions) {
    names.insert(function.name);
    if (const OpDef* op = catalog().find(function.name)) shadowed.insert(op);
  }
  std::string text;
  for (const Type& data : module.data_types.all()) {
    for (const Variant& variant : data.data->variants) names.insert(variant.name);
    if (!is_built_in(*data.data)) text += declaration(data);
  }
  for (const std::string& declaration : module.generic_data_types) text += declaration + '\n';
  for (const Parameter& parameter : module.parameters) {
    names.insert(parameter.name);
    text += declaration(parameter);
  }
  for (const Function& function : module.functions) {
    if (!text.empty()) text += '\n';
    FunctionPrinter(module, function, names, shadowed, text).run();
  }
  return text;
}

}  // namespace hiaton::ir
