#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/check.h"
#include "exec/direct/compile/assign_slots.h"
#include "exec/direct/compile/direct_passes.h"
#include "exec/direct/compile/emit.h"
#include "exec/direct/compile/schedule.h"
#include "exec/direct/direct_plan.h"
#include "exec/direct/kernel_table.h"
#include "exec/direct/run/interpret.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

/// Main is entered with the program's arguments in its first slots.
void require_inputs_are_params(const Graph& graph) {
  std::vector<NodeId> params;
  for (OutPort param : graph[graph.main()].params) params.push_back(param.node);
  if (params != graph.inputs()) throw Unplannable{"the parameters of main are not its Input nodes"};
}

struct Entries {
  std::vector<uint32_t> sequential;
  std::vector<uint32_t> forking;  ///< where there is one form only, that one
};

Entries entries_of(const Plan& plan, std::size_t function_count, bool to_hole) {
  Entries entries{std::vector<uint32_t>(function_count, 0), std::vector<uint32_t>(function_count, 0)};
  for (const Plan::Body& body : plan.bodies) {  // the sequential form comes first
    if (body.to_hole != to_hole || !body.is_whole()) continue;
    entries.forking[body.function.index()] = body.begin + 1;
    if (!body.forking) entries.sequential[body.function.index()] = body.begin + 1;
  }
  return entries;
}

/// By function: the begin of the body that calls of other processes enter; 0: there is none.
std::vector<uint32_t> sent_entries_of(const Plan& plan, std::size_t function_count) {
  std::vector<uint32_t> sent(function_count, 0);
  for (const Plan::Body& body : plan.bodies) {
    if (body.part == Plan::Body::Part::Sent) sent[body.function.index()] = body.begin + 1;
  }
  return sent;
}

/// Fills in the addresses, now that the code does not move any more.
class Linker {
 public:
  explicit Linker(EmitContext& context)
      : context_(context),
        plan_(context.plan),
        code_(plan_.code.data()),
        normal_(entries_of(plan_, function_count(), false)),
        to_holes_(entries_of(plan_, function_count(), true)),
        sent_(sent_entries_of(plan_, function_count())) {}

  void run() {
    for (const EntryReference& reference : context_.entries) link_entry(reference);
    for (const CodeReference& reference : context_.code_references) link_code(reference);
    for (const Plan::Body& body : plan_.bodies) link_body(body);
    link_functions();
    for (Plan::Body& body : plan_.bodies) {
      if (body.part == Plan::Body::Part::Sent) link_copies(body);
    }
    plan_.halt = code_ + plan_.code.size() - 1;
  }

 private:
  std::size_t function_count() const { return context_.graph.functions().size(); }

  uint32_t entry_of(FunctionId function, bool in_forking, bool to_hole) const {
    const Entries& entries = to_hole ? to_holes_ : normal_;
    return (in_forking ? entries.forking : entries.sequential)[function.index()];
  }

  uint32_t entry_of(const EntryReference& reference) const {
    if (reference.task) return context_.task_begins[*reference.task] + 1;
    if (reference.is_sent) return sent_[reference.callee.index()];
    return entry_of(reference.callee, reference.forking, reference.to_hole);
  }

  void link_entry(const EntryReference& reference) {
    const Instruction* entry = code_ + entry_of(reference);
    switch (reference.kind) {
      case EntryReference::Kind::Instruction:
        plan_.code[reference.index].target = entry;
        break;
      case EntryReference::Kind::CallList:
        plan_.call_lists[reference.index].target = entry;
        break;
      case EntryReference::Kind::GroupCall:
        plan_.groups[reference.index].calls[reference.call].entry = entry;
        break;
    }
  }

  void link_code(const CodeReference& reference) {
    Group& group = plan_.groups[reference.group];
    const Instruction* at = code_ + reference.instruction;
    if (reference.call == CodeReference::kJoined) {
      group.joined = at;
    } else {
      group.calls[reference.call].resume = at;
    }
  }

  void link_body(const Plan::Body& body) {
    plan_.code[body.begin].target =
        code_ + (body.is_whole() ? entry_of(body.function, true, body.to_hole) : body.begin + 1);
    plan_.code[body.begin].a = context_.schedule.forks[body.function.index()] ? 1 : 0;
  }

  /// Where other code, and a run, enters each function.
  void link_functions() {
    const std::vector<bool>& is_planned = context_.structure.functions;
    const std::size_t main = context_.graph.main().index();
    if (is_planned[main]) plan_.entry = code_ + (sent_[main] != 0 ? sent_[main] : normal_.forking[main]);
    for (std::size_t f = 0; f < function_count(); ++f)
      plan_.entries.push_back(is_planned[f] ? code_ + normal_.sequential[f] : nullptr);
  }

  void link_copies(Plan::Body& body) {
    const std::vector<uint32_t>& copies = plan_.sent[body.function.index()].copies;
    for (const uint32_t copy : copies) {
      const Instruction* entry = code_ + normal_.forking[copy];
      plan_.sent[copy].entry = entry;
      // A process that has a copy itself goes on in the frame that would have waited.
      if (copies.size() > 1) body.slots = std::max(body.slots, entry[-1].d);
    }
    plan_.code[body.begin].d = body.slots;
  }

  EmitContext& context_;
  Plan& plan_;
  const Instruction* const code_;
  const Entries normal_;
  const Entries to_holes_;
  const std::vector<uint32_t> sent_;
};

std::vector<bool> find_printing(const Graph& graph) {
  std::vector<bool> prints(graph.functions().size(), false);
  std::vector<FunctionId> found;
  const auto add = [&](FunctionId function) {
    if (!function.valid() || prints[function.index()]) return;
    prints[function.index()] = true;
    found.push_back(function);
  };
  for (const graph::Node& node : graph.nodes()) {
    if (has_role(node, Role::Print)) add(node.function);
  }
  if (found.empty()) return prints;
  std::vector<std::vector<FunctionId>> callers(prints.size());
  for (const graph::Site& site : graph.sites()) callers[site.callee.index()].push_back(site.caller);
  while (!found.empty()) {
    const FunctionId callee = found.back();
    found.pop_back();
    for (const FunctionId caller : callers[callee.index()]) add(caller);
  }
  return prints;
}

/// Says how arguments that pass to another worker are counted, now that all code stands.
void find_kinds_of_passed(EmitContext& context) {
  const auto kind_of = [&](const Type& type) {
    if (type.is_tensor()) return FieldKind::Tensor;
    return type.is_data() && context.counted_types.contain(type) ? FieldKind::Data : FieldKind::None;
  };
  for (const PassedValues& passed : context.passed) {
    std::vector<FieldKind>& kinds = context.plan.groups[passed.group].calls[passed.call].kinds;
    for (NodeId value : passed.values) kinds.push_back(kind_of(context.graph[value].type));
  }
}

uint32_t line_of(const Graph& graph, Span span) {
  return graph.source() && span.known() ? graph.source()->locate(span.begin).line : 0;
}

/// The line of the first operation of the block that stands elsewhere than the `match` whose arm it is; 0
/// where there is none.
uint32_t line_of_arm(const Graph& graph, const Block& block, uint32_t line_of_match) {
  for (const Item& item : block.items) {
    if (item.kind != Item::Kind::Op) return 0;
    const uint32_t line = line_of(graph, graph[NodeId(item.index)].span);
    if (line != 0 && line != line_of_match) return line;
  }
  return 0;
}

/// One side of a branch: of an `if`, or of a `match`, which tells its arms apart by such branches.
std::string name_of_side(const Graph& graph, const Structure& structure, const Conditional& conditional,
                         int side) {
  const Span span = graph[structure.origin(conditional.predicate)].span;
  const uint32_t line = line_of(graph, span);
  if (line == 0) return side == 0 ? "then" : "else";
  const bool is_match = graph.source()->text(span) == "match";
  if (!is_match) return fmt::format("line {}: {}", line, side == 0 ? "then" : "else");
  const uint32_t arm = line_of_arm(graph, structure[conditional.sides[side]], line);
  if (arm != 0) return fmt::format("line {}: arm", arm);
  return fmt::format("line {}: match, {}", line, side == 0 ? "it fits" : "it does not fit");
}

/// "body", or what in the function the block belongs to, with its line where the program has text.
std::string region_name(const Graph& graph, const Structure& structure, BlockId block) {
  const auto with_line = [&](Span span, std::string_view what) {
    const uint32_t line = line_of(graph, span);
    return line == 0 ? std::string(what) : fmt::format("line {}: {}", line, what);
  };
  if (!structure[block].parent.valid()) return "body";
  for (const Conditional& conditional : structure.conditionals) {
    for (int side = 0; side < 2; ++side) {
      if (conditional.sides[side] == block && conditional.parent.valid()) {
        return name_of_side(graph, structure, conditional, side);
      }
    }
  }
  for (std::size_t l = 0; l < structure.loops.size(); ++l) {
    const Span span = graph.loops()[l].span;
    if (structure.loops[l].condition == block) return with_line(span, "loop condition");
    if (structure.loops[l].body == block) return with_line(span, "loop body");
  }
  return "block";
}

void name_regions(EmitContext& context) {
  const Graph& graph = context.graph;
  for (BlockId block : context.region_blocks) {
    const FunctionId function = context.structure[block].function;
    context.plan.regions.push_back({graph[function].name, region_name(graph, context.structure, block), 0});
    context.plan.region_is_body.push_back(!context.structure[block].parent.valid());
  }
}

}  // namespace

uint32_t append_instruction(Plan& plan, Opcode opcode) {
  plan.code.emplace_back();
  plan.opcodes.push_back(opcode);
  plan.nodes.emplace_back();
  plan.sites.emplace_back();
  plan.groups_at.push_back(nullptr);
  plan.params_held.push_back(0);
  return static_cast<uint32_t>(plan.code.size()) - 1;
}

const Plan::Body& Plan::body_at(const Instruction* pc) const {
  const uint32_t index = index_of(pc);
  const auto after = std::upper_bound(bodies.begin(), bodies.end(), index,
                                      [](uint32_t wanted, const Body& body) { return wanted < body.begin; });
  HIATON_CHECK(after != bodies.begin());
  return *(after - 1);
}

std::span<const Argument> Plan::arguments_of(const Instruction* call,
                                             std::array<Argument, kMostPassed>& in_instruction) const {
  const Opcode code = opcode(call);
  if (passes_list(code)) return call->calls->arguments;
  in_instruction = {{{call->a, call->plus[0]},
                     {call->b(), call->plus[1]},
                     {call->c(), call->plus[2]},
                     {static_cast<uint16_t>(call->plus[3]), 0}}};
  const Opcode one = is_tail_call(code) ? Opcode::TailCall1 : Opcode::Call1;
  const auto form = static_cast<std::size_t>(code) - static_cast<std::size_t>(one);
  if (form < kMostPassed) return std::span(in_instruction).first(form + 1);
  in_instruction[static_cast<std::size_t>(call->plus[3])].slot = kNoSlot;
  return std::span(in_instruction).first(form - kMostPassed + 1);
}

std::size_t Plan::read_passed(const Slot* slots, const Instruction* call, std::span<Slot> to) const {
  std::array<Argument, kMostPassed> in_instruction;
  const std::span<const Argument> arguments = arguments_of(call, in_instruction);
  const std::size_t count = std::min(arguments.size(), to.size());
  for (std::size_t i = 0; i < count; ++i) arguments[i].pass(slots, &to[i]);
  return count;
}

std::shared_ptr<const Plan> compile(const Graph& graph, const PlanOptions& options, std::string& reason) {
  return compile(graph, std::vector<bool>(graph.functions().size(), true), options, reason);
}

std::shared_ptr<const Plan> compile(const Graph& graph, const std::vector<bool>& functions,
                                    const PlanOptions& options, std::string& reason) {
  std::optional<Structure> structure = find_structure(graph, functions, reason);
  if (!structure) return nullptr;
  sink_fields(graph, *structure);
  delay_updates(graph, *structure, options.overflow);
  const Lifetimes lifetimes = measure(graph, *structure);
  const Ownership ownership(graph, *structure, options.copies);
  auto plan = std::make_shared<Plan>();
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const graph::Node& node = graph.nodes()[n];
    if (!node.function.valid() || !functions[node.function.index()]) continue;
    plan->has_data = plan->has_data || node.type.is_data();
    plan->has_tensors = plan->has_tensors || node.type.is_tensor() || is_string(node.type);
  }
  Schedule schedule;
  EmitContext context{graph, *structure, ownership, schedule, options, *plan};
  try {
    if (functions[graph.main().index()]) require_inputs_are_params(graph);
    schedule = make_schedule(graph, *structure, lifetimes, ownership, options);
#if !defined(NDEBUG)
    verify(schedule, graph, *structure, ownership);
#endif
    assign_slots(schedule, graph, *structure, lifetimes, options.overflow);
#if !defined(NDEBUG)
    verify_slots(schedule, graph, *structure);
#endif
    SequentialForm sequential;
    for (const ScheduledBody& body : schedule.bodies) {
      if (!body.forking) sequential = {};
      emit_body(context, body, sequential);
    }
    emit_sent_calls(context);
  } catch (const Unplannable& found) {
    reason = found.reason;
    return nullptr;
  } catch (const TooManySlots& found) {
    reason = fmt::format("function '{}' has too many values at once", graph[found.function].name);
    return nullptr;
  }
  plan->result_count = static_cast<uint16_t>(structure->results[graph.main().index()].size());
  append_instruction(*plan, Opcode::Header);
  append_instruction(*plan, Opcode::Halt);
  Linker(context).run();
  find_kinds_of_passed(context);
  plan->prints = find_printing(graph);
  name_regions(context);
  forward_results(*plan);
  set_handlers(*plan);
  return plan;
}

}  // namespace hiaton::exec::direct
