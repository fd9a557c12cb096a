#include <fmt/format.h>

#include <algorithm>

#include "graph/labels.h"
#include "hiaton/graph.h"

namespace hiaton::graph {
namespace {

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

/// Shape and colour by kind: what crosses functions is orange, what crosses loops green, branches blue.
std::string_view style_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::Input:
    case NodeKind::Output:
      return "shape=box style=\"filled,rounded\" fillcolor=\"#d5d8dc\"";
    case NodeKind::Const:
      return "shape=plaintext fontsize=10 width=0 height=0 margin=0.04 fontcolor=\"#5d6d7e\"";
    case NodeKind::Op:
      return "shape=ellipse style=filled fillcolor=white";
    case NodeKind::Call:
    case NodeKind::Return:
      return "shape=box style=filled fillcolor=\"#f8c471\" color=\"#b9770e\"";
    case NodeKind::Merge:
      return "shape=invhouse style=filled fillcolor=\"#aed6f1\" color=\"#2874a6\"";
    case NodeKind::Accumulate:
      return "shape=box style=filled fillcolor=\"#d2b4de\" color=\"#6c3483\"";
    case NodeKind::Switch:
      return "shape=plain fontcolor=black";
    case NodeKind::Enter:
    case NodeKind::Exit:
    case NodeKind::NextIteration:
      return "shape=box style=\"filled,rounded\" fillcolor=\"#a9dfbf\" color=\"#1e8449\"";
  }
  return "";
}

/// "CALL" with a lowered "0", as the paper writes it; the symbol of an operation that has one.
std::string title_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::Const:
      return to_string(node.constant, node.type);
    case NodeKind::Op:
      return escape_html(node.op->symbol.value.empty() ? node.op->name.value : node.op->symbol.value);
    case NodeKind::Call:
      return fmt::format("CALL<SUB>{}</SUB>", node.site.index());
    case NodeKind::Return:
      return fmt::format("RETURN<SUB>{}</SUB>", node.site.index());
    default:
      return std::string(name_of(node.kind));
  }
}

class DotWriter {
 public:
  explicit DotWriter(const Graph& graph)
      : graph_(graph), in_loop_(graph.loops().size()), in_function_(graph.functions().size()) {}

  std::string write() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const LoopId loop = drawn_in(NodeId(n));
      (loop.valid() ? in_loop_[loop.index()] : in_function_[graph_.nodes()[n].function.index()]) +=
          node_line(NodeId(n));
    }
    nest_loops();
    text_ =
        "digraph program {\n"
        "  graph [fontname=\"Helvetica\" ranksep=0.35 nodesep=0.25 newrank=true]\n"
        "  node [fontname=\"Helvetica\" fontsize=12 width=0.4 height=0.3 margin=\"0.08,0.04\"]\n"
        "  edge [fontname=\"Helvetica\" fontsize=9 arrowsize=0.6 color=\"#34495e\"]\n";
    for (std::size_t f = 0; f < in_function_.size(); ++f) write_function(FunctionId(f));
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) write_edges(NodeId(n));
    return text_ + "}\n";
  }

 private:
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
      label += fmt::format("<BR/><FONT POINT-SIZE=\"9\">{}</FONT>", escape_html(note));
    }
    if (node.kind == NodeKind::Switch) label = with_sides(label);
    return fmt::format("n{} [label=<{}> {} tooltip=\"%{} : {}\"]\n", id.index(), label, style_of(node),
                       id.index(), escape_html(to_string(node.type)));
  }

  /// A box with one cell below for each output.
  static std::string with_sides(const std::string& label) {
    return fmt::format(
        "<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"3\" BGCOLOR=\"#aed6f1\" "
        "COLOR=\"#2874a6\"><TR><TD COLSPAN=\"2\">{}</TD></TR><TR><TD PORT=\"o0\"><FONT "
        "POINT-SIZE=\"9\">T</FONT></TD>"
        "<TD PORT=\"o1\"><FONT POINT-SIZE=\"9\">F</FONT></TD></TR></TABLE>",
        label);
  }

  std::vector<std::string> notes_of(NodeId id) const {
    const Node& node = graph_[id];
    std::vector<std::string> notes;
    const bool from_call = node.kind == NodeKind::Call || node.kind == NodeKind::Return;
    const std::string note = from_call ? note_on(graph_, id) : node.kind == NodeKind::Const ? "" : node.name;
    if (!note.empty()) notes.push_back(note);
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
          "subgraph cluster_loop{} {{\nlabel=<loop {}> labeljust=l fontsize=10 style=\"dashed,rounded\" "
          "color=\"#1e8449\" fontcolor=\"#1e8449\"\n{}}}\n",
          l, l, in_loop_[l]);
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
    const std::string place =
        function.placement.empty() ? "" : fmt::format(" <I>on {}</I>", escape_html(function.placement));
    text_ += fmt::format(
        "subgraph cluster_function{} {{\nlabel=<<B>{}</B>{}> labeljust=l fontsize=14 "
        "style=\"filled,rounded\" "
        "color=\"#85929e\" fillcolor=\"#f8f9f9\"\n{}}}\n",
        id.index(), escape_html(function.name), place, in_function_[id.index()]);
  }

  void write_edges(NodeId to) {
    const Node& node = graph_[to];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) write_edge(node.inputs[i], to, style_of_edge(to, i));
    for (OutPort from : node.controls) write_edge(from, to, "style=dashed color=\"#7f8c8d\"");
  }

  std::string_view style_of_edge(NodeId to, std::size_t port) const {
    const Node& reader = graph_[to];
    const Node& source = graph_[reader.inputs[port].node];
    if (source.kind == NodeKind::NextIteration) return "color=\"#1e8449\" constraint=false";
    if (source.kind == NodeKind::Call || reader.kind == NodeKind::Return) {
      const bool upward = source.function == reader.function;
      return upward ? "color=\"#b9770e\" constraint=false" : "color=\"#b9770e\"";
    }
    const bool is_predicate = reader.kind == NodeKind::Switch && port == 1;
    return is_predicate ? "color=\"#2874a6\" arrowhead=dot" : "";
  }

  void write_edge(OutPort from, NodeId to, std::string_view style) {
    const bool from_switch = graph_[from.node].kind == NodeKind::Switch;
    text_ += fmt::format("n{}{} -> n{} [{}]\n", from.node.index(),
                         from_switch ? fmt::format(":o{}:s", from.port) : "", to.index(), style);
  }

  const Graph& graph_;
  std::vector<std::string> in_loop_;      ///< what is drawn in the box of each loop
  std::vector<std::string> in_function_;  ///< and of each function, outside of its loops
  std::string text_;
};

}  // namespace

std::string to_dot(const Graph& graph) {
  return DotWriter(graph).write();
}

}  // namespace hiaton::graph
