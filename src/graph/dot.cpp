#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "graph/contexts.h"
#include "graph/dot_style.h"
#include "graph/labels.h"
#include "hiaton/error.h"
#include "hiaton/graph.h"

namespace hiaton::graph {
namespace {

/// By function. Throws ProgramError for a name that there is not.
std::vector<bool> drawn_functions(const Graph& graph, const DrawOptions& options) {
  std::vector<bool> drawn(graph.functions().size(), options.only.empty());
  const auto set = [&](const std::vector<std::string>& names, bool value) {
    for (const std::string& name : names) {
      const auto found = std::find_if(graph.functions().begin(), graph.functions().end(),
                                      [&](const Function& function) { return function.name == name; });
      if (found == graph.functions().end()) {
        std::vector<std::string> known;
        for (const Function& function : graph.functions()) known.push_back(function.name);
        throw ProgramError(
            fmt::format("the graph has no function '{}'; it has {}", name, fmt::join(known, ", ")));
      }
      drawn[static_cast<std::size_t>(found - graph.functions().begin())] = value;
    }
  };
  set(options.only, true);
  set(options.collapsed, false);
  return drawn;
}

class DotWriter {
 public:
  /// `prefix`: of all names in the picture.
  DotWriter(const Graph& graph, const DrawOptions& options, std::string prefix = "",
            std::vector<bool> is_of_state_machine = {})
      : graph_(graph),
        prefix_(std::move(prefix)),
        is_of_state_machine_(std::move(is_of_state_machine)),
        backward_(backward_nodes(graph)),
        is_drawn_(drawn_functions(graph, options)),
        in_loop_(graph.loops().size()),
        in_function_(graph.functions().size()) {}

  /// The boxes of the functions, and the edges.
  std::string write() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (!is_drawn(NodeId(n)) || is_merged(NodeId(n))) continue;
      place_of(NodeId(n)) += node_line(NodeId(n));
    }
    for (std::size_t s = 0; s < graph_.sites().size(); ++s) write_merged_site(CallSite(s));
    nest_loops();
    for (std::size_t f = 0; f < in_function_.size(); ++f) {
      if (is_drawn_[f]) write_function(FunctionId(f));
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (is_drawn(NodeId(n))) write_edges(NodeId(n));
    }
    return std::move(text_);
  }
  const std::vector<bool>& backward() const { return backward_; }

 private:
  bool is_drawn(NodeId id) const { return is_drawn_[graph_[id].function.index()]; }

  /// A call of a function that is not drawn: all its Call and Return nodes of one phase are one box.
  bool is_merged(NodeId id) const {
    const NodeKind kind = graph_[id].kind;
    return (kind == NodeKind::Call || kind == NodeKind::Return) &&
           !is_drawn_[graph_[graph_[id].site].callee.index()];
  }

  /// The text of the box of a loop or function that the node stands in.
  std::string& place_of(NodeId id) {
    const LoopId loop = drawn_in(id);
    return loop.valid() ? in_loop_[loop.index()] : in_function_[graph_[id].function.index()];
  }

  std::string name_of_node(NodeId id) const {
    if (!is_merged(id)) return fmt::format("{}n{}", prefix_, id.index());
    return fmt::format("{}s{}_{}", prefix_, graph_[id].site.index(), phase_of(graph_, id));
  }

  void write_merged_site(CallSite id) {
    const Site& site = graph_[id];
    if (!is_drawn_[site.caller.index()] || is_drawn_[site.callee.index()]) return;
    std::vector<NodeId> nodes = site.calls;
    nodes.insert(nodes.end(), site.returns.begin(), site.returns.end());
    std::vector<std::string> written;
    for (NodeId node : nodes) {
      const std::string name = name_of_node(node);
      if (std::find(written.begin(), written.end(), name) != written.end()) continue;
      written.push_back(name);
      const bool backward = phase_of(graph_, node) > 0;
      place_of(node) +=
          fmt::format("{0} [id={0} label=<{1}{2}{3}> {4} peripheries=2 tooltip=\"a call of {1}\"]\n", name,
                      escape_html(graph_[site.callee].name), subscript(id.index()),
                      backward ? note_line("backward") : "", style_of(graph_[node], backward));
    }
  }

  /// A constant is drawn where it is used.
  LoopId drawn_in(NodeId id) const {
    const Node& node = graph_[id];
    if (node.loop.valid()) return node.loop;
    if (node.kind != NodeKind::Const || !node.controls.empty()) return graph_.loop_of(id);
    const auto readers = graph_.consumers({id});
    return readers.empty() || graph_[readers[0].node].kind == NodeKind::Enter ? LoopId()
                                                                              : drawn_in(readers[0].node);
  }

  std::string node_line(NodeId id) const {
    const Node& node = graph_[id];
    std::string label = title_of(node);
    for (const std::string& note : notes_of(id)) {
      label += note_line(note);
    }
    if (node.kind == NodeKind::Switch) label = with_sides(label, backward_[id.index()]);
    const bool is_copy = !is_of_state_machine_.empty() && is_of_state_machine_[id.index()];
    return fmt::format("{0} [id={0} label=<{1}> {2}{3} tooltip=\"%{4} : {5}\"]\n", name_of_node(id), label,
                       style_of(node, backward_[id.index()]), is_copy ? kOfStateMachine : "", id.index(),
                       escape_html(to_string(node.type)));
  }

  std::vector<std::string> notes_of(NodeId id) const {
    const Node& node = graph_[id];
    std::vector<std::string> notes;
    const bool from_call = node.kind == NodeKind::Call || node.kind == NodeKind::Return;
    const std::string note = from_call                      ? note_on(graph_, id)
                             : node.kind == NodeKind::Const ? ""
                                                            : node.name.str();
    if (!note.empty()) notes.push_back(note);
    if (node.kind == NodeKind::Accumulate) {
      notes.push_back("for " + graph_.parameters()[static_cast<std::size_t>(node.parameter)].name);
    }
    if (node.loop_constant) notes.emplace_back("constant");
    if (!node.placement.empty()) notes.push_back(fmt::format("on {}", node.placement));
    return notes;
  }

  /// Each loop's box into that of the loop or function around it, innermost first. A loop may have a higher
  /// number than the loops inside it.
  void nest_loops() {
    std::vector<std::size_t> inner_count(in_loop_.size());
    for (const Loop& loop : graph_.loops()) {
      if (loop.parent.valid()) ++inner_count[loop.parent.index()];
    }
    std::vector<std::size_t> ready;
    for (std::size_t l = 0; l < in_loop_.size(); ++l) {
      if (inner_count[l] == 0) ready.push_back(l);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const std::size_t l = ready[i];
      const Loop& loop = graph_.loops()[l];
      const std::string box = fmt::format(
          "subgraph cluster_{}loop{} {{\nlabel=<loop {}> labeljust=l fontsize=10 style=\"dashed,rounded\" "
          "color=\"#1e8449\" fontcolor=\"#1e8449\"\n{}}}\n",
          prefix_, l, l, in_loop_[l]);
      if (!loop.parent.valid()) {
        in_function_[loop.function.index()] += box;
      } else {
        in_loop_[loop.parent.index()] += box;
        if (--inner_count[loop.parent.index()] == 0) ready.push_back(loop.parent.index());
      }
    }
  }

  void write_function(FunctionId id) {
    const Function& function = graph_[id];
    // In a part, what a function has of its frames on another process stands in the box of this one.
    const std::string_view what = prefix_.empty() ? "on" : "for frames on";
    const std::string place =
        function.placement.empty() ? "" : fmt::format(" <I>{} {}</I>", what, escape_html(function.placement));
    text_ += fmt::format(
        "subgraph cluster_{}function{} {{\nlabel=<<B>{}</B>{}> labeljust=l fontsize=14 "
        "style=\"filled,rounded\" "
        "color=\"#85929e\" fillcolor=\"#f8f9f9\"\n{}}}\n",
        prefix_, id.index(), escape_html(function.name), place, in_function_[id.index()]);
  }

  void write_edges(NodeId to) {
    const Node& node = graph_[to];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      write_edge(node.inputs[i], to, fmt::format("{}e{}_{}", prefix_, to.index(), i), style_of_edge(to, i));
    }
    for (std::size_t i = 0; i < node.controls.size(); ++i) {
      write_edge(node.controls[i], to, fmt::format("{}c{}_{}", prefix_, to.index(), i),
                 "style=dashed color=\"#7f8c8d\"");
    }
  }

  std::string style_of_edge(NodeId to, std::size_t port) const {
    const Node& reader = graph_[to];
    const NodeId from = reader.inputs[port].node;
    const Node& source = graph_[from];
    const bool backward = backward_[from.index()] && backward_[to.index()];
    if (source.kind == NodeKind::NextIteration) return "color=\"#1e8449\" constraint=false";
    if (crosses(from, to)) {
      const bool upward = source.function == reader.function;
      return fmt::format("color=\"{}\"{}", backward ? kBackward : kCall, upward ? " constraint=false" : "");
    }
    const bool is_predicate = reader.kind == NodeKind::Switch && port == 1;
    if (is_predicate) return "color=\"#2874a6\" arrowhead=dot";
    return backward ? fmt::format("color=\"{}\"", kBackward) : "";
  }

  /// From a Call to a parameter, or from a result to a Return.
  bool crosses(NodeId from, NodeId to) const {
    return graph_[from].kind == NodeKind::Call || graph_[to].kind == NodeKind::Return;
  }

  void write_edge(OutPort from, NodeId to, const std::string& id, std::string_view style) {
    if (!is_drawn(from.node)) return;
    const bool in_merged_site = is_merged(from.node) || is_merged(to);
    const bool same_site = graph_[from.node].kind == NodeKind::Call && graph_[to].kind == NodeKind::Return;
    if (in_merged_site && (crosses(from.node, to) || same_site)) return;
    const bool from_switch = graph_[from.node].kind == NodeKind::Switch;
    text_ += fmt::format("{}{} -> {} [id={}{}{}]\n", name_of_node(from.node),
                         from_switch ? fmt::format(":o{}:s", from.port) : "", name_of_node(to), id,
                         style.empty() ? "" : " ", style);
  }

  const Graph& graph_;
  const std::string prefix_;
  const std::vector<bool> is_of_state_machine_;  ///< by node; empty: none
  const std::vector<bool> backward_;             ///< by node
  const std::vector<bool> is_drawn_;             ///< by function
  std::vector<std::string> in_loop_;             ///< what is drawn in the box of each loop
  std::vector<std::string> in_function_;  ///< what is drawn in the box of each function, outside of its loops
  std::string text_;
};

}  // namespace

namespace {

std::string head(const DrawOptions& options) {
  return fmt::format(
             "digraph program {{\n  graph [fontname=\"Helvetica\" ranksep={} nodesep={} newrank=true]\n",
             options.roomy ? 0.42 : 0.35, options.roomy ? 0.6 : 0.25) +
         "  node [fontname=\"Helvetica\" fontsize=12 width=0.4 height=0.3 margin=\"0.08,0.04\"]\n"
         "  edge [fontname=\"Helvetica\" fontsize=9 arrowsize=0.6 color=\"#34495e\"]\n";
}

std::string prefix_of(std::size_t part) {
  return fmt::format("p{}_", part);
}

/// From each Send to the Recv of its channel.
std::string channel_edges(std::span<const DrawnPart> parts) {
  std::map<uint32_t, std::string> receivers;
  const auto for_each = [&](NodeKind kind, auto visit) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::vector<Node>& nodes = parts[p].graph.nodes();
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (nodes[n].kind == kind) visit(nodes[n].index, fmt::format("{}n{}", prefix_of(p), n));
      }
    }
  };
  std::string text;
  for_each(NodeKind::Recv, [&](uint32_t channel, const std::string& name) { receivers[channel] = name; });
  for_each(NodeKind::Send, [&](uint32_t channel, const std::string& name) {
    text += fmt::format("{} -> {} [id=channel{} penwidth=2 color=\"{}\"]\n", name, receivers.at(channel),
                        channel, kCrossingProcesses);
  });
  return text;
}

}  // namespace

std::string to_dot(const Graph& graph, const DrawOptions& options) {
  DotWriter writer(graph, options);
  std::string text = head(options) + writer.write();
  if (options.legend) text += legend(graph, writer.backward());
  return text + "}\n";
}

std::string to_dot(std::span<const DrawnPart> parts, const DrawOptions& options) {
  std::string text = head(options);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    DotWriter writer(parts[p].graph, options, prefix_of(p), parts[p].is_of_state_machine);
    text += fmt::format(
        "subgraph cluster_process{} {{\nlabel=<<B>{}</B>> labeljust=l fontsize=16 style=rounded penwidth=2 "
        "color=\"{}\"\n{}}}\n",
        p, escape_html(parts[p].title), kCrossingProcesses, writer.write());
  }
  return text + channel_edges(parts) + "}\n";
}

}  // namespace hiaton::graph
