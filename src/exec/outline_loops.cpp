// outline_loops. Its rule: a loop with variables s, and with values c that are the same in every iteration,
//   while condition(s, c) do body(s, c)
// becomes a call of a function of its own that calls itself:
//   fn loop(s, c) = if condition(s, c) then loop(body(s, c), c) else s
// Node by node, where `around` is the function that the loop stands in, or that of the loop around it:
//   - an Enter becomes a Call of loop in `around`: its value is a first argument
//   - the Merge of an Enter and a NextIteration becomes a parameter of loop: the Merge of the two Calls
//   - a constant Enter has a parameter of its own, which its readers read. The predicate of the loop switches
//     it, and the true side is the argument of the call of loop in loop
//   - a NextIteration becomes a Call of loop in loop, which stands on the true side of the predicate
//   - an Exit becomes a Return of loop in `around`. A result of loop is the Merge of the Return of loop in
//     loop and of what the Exit read: the false side of a Switch by the predicate, or what is computed from
//     such sides alone
//   - all others stay as they are, in the function of the innermost loop around them; a constant under every
//     tag stands in each function that reads it
// The rules of tags make the two forms the same: a loop that is not entered and a function that is not called
// give dead results, and what a NextIteration stops, a dead token, is what makes the inner call dead.
//
// A function of several phases keeps them, and the functions of its loops have one phase: a loop is called
// when all values that enter it have come, in whichever phase.
#include "exec/outline_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "exec/firing.h"
#include "exec/graph_names.h"
#include "hiaton/error.h"

namespace hiaton::exec {
namespace {

struct NotOutlined {
  std::string reason;
};

/// A value that a loop takes: first that of a variable, later the same again.
struct Param {
  NodeId enter;
  NodeId merge;  ///< the Merge that a variable is; otherwise the one that is made for the value
  NodeId next;   ///< the NextIteration of a variable; otherwise invalid
};

/// A loop that is to become a function.
struct Outlined {
  FunctionId function;
  FunctionId around;
  CallSite outer;             ///< calls the function in `around`
  CallSite inner;             ///< calls the function in itself
  std::vector<Param> params;  ///< the variables first
  OutPort predicate;
};

class LoopOutliner {
 public:
  LoopOutliner(const Graph& graph, const std::function<bool(FunctionId)>& is_chosen)
      : graph_(graph), builder_(graph.source()), outlined_(graph.loops().size()), nodes_(graph.nodes()) {
    for (std::size_t i = 0; i < outlined_.size(); ++i) {
      if (!is_chosen(graph.loops()[i].function)) continue;
      outlined_[i].emplace();
      find_params(LoopId(i));
      find_predicate(LoopId(i));
    }
  }

  Graph run() {
    declare_functions();
    declare_sites();
    keep_other_loops();
    place_nodes();
    for (std::size_t i = 0; i < outlined_.size(); ++i) {
      if (outlined_[i]) outline(LoopId(i));
    }
    redirect_reads();
    for (Node& node : nodes_) builder_.add(std::move(node));
    return builder_.finish();
  }

 private:
  Outlined& outlined(LoopId loop) { return *outlined_[loop.index()]; }
  bool is_outlined(LoopId loop) const { return loop.valid() && outlined_[loop.index()].has_value(); }

  // What a loop consists of
  // ----------------------------------------------------------------------------------

  void find_params(LoopId id) {
    std::vector<Param> constants;
    for (NodeId enter : graph_[id].enters) {
      const auto readers = graph_.consumers({enter});
      if (graph_[enter].loop_constant || readers.empty()) {
        constants.push_back({.enter = enter, .merge = {}, .next = {}});
        continue;
      }
      for (graph::InPort reader : readers) outlined(id).params.push_back(variable(enter, reader.node));
      refuse_if(!graph_.control_consumers({enter}).empty(), "a value starts with a variable of a loop");
    }
    refuse_if(outlined(id).params.empty(), "a loop has no variables or no results");
    std::set<NodeId> nexts;
    for (const Param& param : outlined(id).params) nexts.insert(param.next);
    refuse_if(nexts.size() != graph_[id].nexts.size(),
              "a NextIteration does not lead to a variable of its loop");
    outlined(id).params.insert(outlined(id).params.end(), constants.begin(), constants.end());
  }

  Param variable(NodeId enter, NodeId merge) const {
    Param found{.enter = enter, .merge = merge, .next = {}};
    const Node& node = graph_[merge];
    for (OutPort input : node.inputs) {
      const Node& from = graph_[input.node];
      if (from.kind != NodeKind::NextIteration || from.loop != graph_[enter].loop) continue;
      found.next = input.node;
      refuse_if(!graph_.control_consumers(input).empty(), "a value starts with a variable of a loop");
    }
    refuse_if(node.kind != NodeKind::Merge || node.inputs.size() != 2 || !found.next.valid(),
              "a loop variable is not the Merge of one Enter and one NextIteration");
    return found;
  }

  void find_predicate(LoopId id) {
    refuse_if(graph_[id].exits.empty(), "a loop has no variables or no results");
    for (NodeId exit : graph_[id].exits) find_predicate(id, graph_[exit].inputs[0]);
  }

  /// Walks from what an Exit reads to the Switch nodes by which values leave the loop. Operations, calls and
  /// whole branches and loops may stand between: the end of a branch is passed with one more `inside`, its
  /// Switch nodes with one less.
  void find_predicate(LoopId id, OutPort result) {
    struct Place {
      OutPort port;
      uint32_t inside;
      auto operator<=>(const Place&) const = default;
    };
    std::set<Place> seen;
    std::vector<Place> open{{result, 0}};
    bool is_found = false;
    while (!open.empty()) {
      const Place place = open.back();
      open.pop_back();
      const NodeId at = place.port.node;
      if (graph_.loop_of(at) != id || !seen.insert(place).second) continue;
      const Node& node = graph_[at];
      if (node.kind == NodeKind::Switch && place.inside == 0) {
        const bool is_first = !is_found && !outlined(id).predicate.node.valid();
        refuse_if(place.port.port != 1 || (!is_first && node.inputs[1] != outlined(id).predicate),
                  "an Exit does not read the false side of its loop's predicate");
        outlined(id).predicate = node.inputs[1];
        is_found = true;
        continue;
      }
      const bool is_variable =
          node.kind == NodeKind::Merge && std::ranges::any_of(node.inputs, [&](OutPort from) {
            return graph_[from.node].kind == NodeKind::NextIteration;
          });
      refuse_if(is_variable, "an Exit reads a value that its loop's predicate does not switch");
      if (node.kind == NodeKind::Switch) {
        open.push_back({node.inputs[0], place.inside - 1});
        continue;
      }
      const uint32_t inside = place.inside + (node.kind == NodeKind::Merge ? 1 : 0);
      for_each_value_before(node, [&](OutPort from) { open.push_back({from, inside}); });
    }
    refuse_if(!is_found, "an Exit reads a value that its loop's predicate does not switch");
  }

  /// What the value of a node comes from, outside of functions and loops that it leaves.
  template <class Visit>
  void for_each_value_before(const Node& node, Visit visit) const {
    if (node.kind == NodeKind::Return) {
      for (NodeId call : graph_[node.site].calls) visit(graph_[call].inputs[0]);
    } else if (node.kind == NodeKind::Exit) {
      for (NodeId enter : graph_[node.loop].enters) visit(graph_[enter].inputs[0]);
    } else {
      for (OutPort input : node.inputs) visit(input);
      for (OutPort control : node.controls) visit(control);
    }
  }

  static void refuse_if(bool refused, const char* reason) {
    if (refused) throw NotOutlined{reason};
  }

  // Functions, call sites, loops
  // -----------------------------------------------------------------------------

  void declare_functions() {
    for (const graph::Parameter& parameter : graph_.parameters()) {
      builder_.add_parameter(parameter.name, parameter.type, parameter.initial, parameter.placement);
    }
    std::set<std::string> names;
    for (const graph::Function& function : graph_.functions()) {
      builder_.function(builder_.add_function(function.name)) = function;
      names.insert(function.name);
    }
    for (std::size_t i = 0; i < outlined_.size(); ++i) {
      if (!outlined_[i]) continue;
      const graph::Function& from = graph_[graph_.loops()[i].function];
      const std::string wish = from.name + "_loop";
      std::string name = wish;
      for (int number = 2; !names.insert(name).second; ++number) name = fmt::format("{}{}", wish, number);
      outlined_[i]->function = builder_.add_function(name, span_of(LoopId(i)));
      const std::string place(graph_[graph_.loops()[i].enters[0]].placement);
      builder_.function(outlined_[i]->function).placement = place.empty() ? from.placement : place;
    }
    for (std::size_t i = 0; i < outlined_.size(); ++i) {
      if (outlined_[i]) outlined_[i]->around = function_in(graph_.loops()[i].parent, LoopId(i));
    }
  }

  /// A call in a program with a text has a place there, unless it is the one that enters the program.
  Span span_of(LoopId loop) const {
    const Span span = graph_[loop].span;
    return span.known() ? span : graph_[graph_[loop].function].span;
  }

  FunctionId function_in(LoopId loop, LoopId inner) const {
    return loop.valid() ? outlined_[loop.index()]->function : graph_[inner].function;
  }

  void declare_sites() {
    for (const graph::Site& site : graph_.sites()) {
      builder_.in_function(site.returns.empty() ? site.caller : function_of(site.returns[0]));
      builder_.add_site(site.callee, site.span);
    }
    for (std::size_t i = 0; i < outlined_.size(); ++i) {
      if (!outlined_[i]) continue;
      Outlined& loop = *outlined_[i];
      builder_.in_function(loop.around);
      loop.outer = builder_.add_site(loop.function, span_of(LoopId(i)));
      builder_.in_function(loop.function);
      loop.inner = builder_.add_site(loop.function, span_of(LoopId(i)));
    }
  }

  /// In the new graph.
  FunctionId function_of(NodeId id) const {
    const LoopId loop = graph_.loop_of(id);
    return is_outlined(loop) ? outlined_[loop.index()]->function : graph_[id].function;
  }

  void keep_other_loops() {
    for (std::size_t i = 0; i < outlined_.size(); ++i) {
      kept_loops_.emplace_back();
      if (outlined_[i]) continue;
      builder_.in_function(graph_.loops()[i].function);
      kept_loops_.back() = builder_.add_loop(graph_.loops()[i].span);
    }
  }

  void place_nodes() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      node.function = function_of(NodeId(i));
      if (node.loop.valid() && !is_outlined(node.loop)) node.loop = kept_loops_[node.loop.index()];
    }
  }

  // Loops
  // ----------------------------------------------------------------------------------------------------

  void outline(LoopId id) {
    make_params(id);
    make_calls(id);
    for (NodeId exit : graph_[id].exits) make_result(id, exit);
  }

  void make_params(LoopId id) {
    Outlined& loop = outlined(id);
    builder_.in_function(loop.function);
    for (Param& param : loop.params) {
      const Node& enter = graph_[param.enter];
      if (!param.next.valid()) {
        param.merge = add({.kind = NodeKind::Merge, .type = enter.type}, enter, loop.function);
        replaced_[param.enter] = param.merge;
      }
      nodes_[param.merge.index()].inputs.clear();
      params_.insert(param.merge);
      const SharedString& name = nodes_[param.merge.index()].name;
      const std::size_t number = builder_.function(loop.function).params.size() + 1;
      builder_.add_param(name.empty() ? fmt::format("v{}", number) : std::string(name), {param.merge});
    }
  }

  /// The arguments of a call site are numbered as their nodes are. So the Calls of the first arguments stand
  /// where Enters stood, and those of the next ones where NextIterations stood, each in the order of the
  /// parameters.
  void make_calls(LoopId id) {
    const Outlined& loop = outlined(id);
    std::vector<Node> firsts;
    for (const Param& param : loop.params) {
      firsts.push_back(call(loop.outer, graph_[param.enter], loop.around));
    }
    const std::vector<NodeId>& enters = graph_[id].enters;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      // Where two variables share an Enter, or below a NextIteration, there are more arguments than these.
      const Node& like = graph_[loop.params[i].enter];
      const NodeId at = i < enters.size() ? enters[i] : add(Node(like), like, loop.around);
      put_argument(at, firsts[i], loop.params[i].merge);
    }
    std::vector<Node> nexts;
    for (const Param& param : loop.params) {
      if (param.next.valid()) nexts.push_back(call(loop.inner, graph_[param.next], loop.function));
    }
    for (std::size_t i = 0; i < nexts.size(); ++i) {
      const Node& like = graph_[loop.params[i].next];
      const std::vector<NodeId>& places = graph_[id].nexts;
      const NodeId at = i < places.size() ? places[i] : add(Node(like), like, loop.function);
      put_argument(at, nexts[i], loop.params[i].merge);
    }
    for (std::size_t i = nexts.size(); i < loop.params.size(); ++i) {
      const Param& param = loop.params[i];
      const Node& enter = graph_[param.enter];
      const NodeId again = add(
          {.kind = NodeKind::Switch, .inputs = {OutPort{param.merge}, loop.predicate}, .type = enter.type},
          enter, loop.function);
      Node same = call(loop.inner, enter, loop.function);
      same.inputs = {OutPort{again, 0}};
      put_argument(add(std::move(same), enter, loop.function), std::nullopt, param.merge);
    }
  }

  static Node call(CallSite site, const Node& from, FunctionId function) {
    return {.kind = NodeKind::Call,
            .inputs = from.inputs,
            .type = from.type,
            .function = function,
            .site = site,
            .name = from.name,
            .span = from.span,
            .placement = from.placement};
  }

  void put_argument(NodeId id, std::optional<Node> argument, NodeId param) {
    if (argument) nodes_[id.index()] = std::move(*argument);
    nodes_[param.index()].inputs.push_back({id});
  }

  void make_result(LoopId id, NodeId exit) {
    const Outlined& loop = outlined(id);
    const Node& from = graph_[exit];
    const NodeId again =
        add({.kind = NodeKind::Return, .inputs = {OutPort{}}, .type = from.type, .site = loop.inner}, from,
            loop.function);
    const NodeId result =
        add({.kind = NodeKind::Merge, .inputs = {OutPort{again}, from.inputs[0]}, .type = from.type}, from,
            loop.function);
    builder_.in_function(loop.function);
    builder_.add_result({result});
    Node returned = from;
    returned.kind = NodeKind::Return;
    returned.inputs = {OutPort{}};
    returned.function = loop.around;
    returned.site = loop.outer;
    returned.loop = {};
    nodes_[exit.index()] = std::move(returned);
  }

  /// Behind all others, with name and place of `like`.
  NodeId add(Node node, const Node& like, FunctionId function) {
    node.function = function;
    node.name = like.name;
    node.span = like.span;
    node.placement = like.placement;
    nodes_.push_back(std::move(node));
    return NodeId(nodes_.size() - 1);
  }

  // Edges
  // ----------------------------------------------------------------------------------------------------

  void redirect_reads() {
    const std::size_t count = nodes_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (params_.contains(NodeId(i))) continue;  // it reads the Calls
      const FunctionId reader = nodes_[i].function;
      for (std::size_t port = 0; port < nodes_[i].inputs.size(); ++port) {
        const OutPort from = read_in(reader, nodes_[i].inputs[port]);
        nodes_[i].inputs[port] = from;
      }
      for (std::size_t port = 0; port < nodes_[i].controls.size(); ++port) {
        const OutPort from = read_in(reader, nodes_[i].controls[port]);
        nodes_[i].controls[port] = from;
      }
    }
  }

  OutPort read_in(FunctionId reader, OutPort port) {
    if (!port.node.valid()) return port;
    const auto replaced = replaced_.find(port.node);
    if (replaced != replaced_.end()) return {replaced->second};
    const Node& from = nodes_[port.node.index()];
    if (!is_under_every_tag(from) || from.function == reader) return port;
    const auto [copy, is_new] = constants_.try_emplace({port.node, reader});
    if (is_new) copy->second = add(Node(from), Node(from), reader);
    return {copy->second};
  }

  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<std::optional<Outlined>> outlined_;  ///< by loop
  std::vector<LoopId> kept_loops_;                 ///< by loop
  std::vector<Node> nodes_;                        ///< nodes of the new graph
  std::set<NodeId> params_;                        ///< parameters of the functions of loops
  std::map<NodeId, NodeId> replaced_;              ///< by constant Enter: its parameter
  std::map<std::pair<NodeId, FunctionId>, NodeId> constants_;
};

}  // namespace

std::optional<Graph> outline_loops(const Graph& graph, const std::function<bool(FunctionId)>& is_chosen,
                                   std::string& reason) {
  try {
    return LoopOutliner(graph, is_chosen).run();
  } catch (const NotOutlined& refused) {
    reason = refused.reason;
  } catch (const ProgramError&) {
    reason = "a loop does not nest";
  }
  return std::nullopt;
}

}  // namespace hiaton::exec
