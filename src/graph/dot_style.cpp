#include "graph/dot_style.h"

#include <fmt/format.h>

#include <algorithm>

namespace hiaton::graph {
namespace {

struct Colours {
  std::string_view fill;
  std::string_view line;
};

constexpr Colours kEnds{"#d5d8dc", "#566573"};
constexpr Colours kOperation{"white", "black"};
constexpr Colours kCrossing{"#f8c471", kCall};
constexpr Colours kBranch{"#aed6f1", "#2874a6"};
constexpr Colours kLoop{"#a9dfbf", "#1e8449"};
constexpr Colours kBackwardOperation{"#f4ecf7", kBackward};
constexpr Colours kBackwardCrossing{"#d7bde2", kBackward};
constexpr Colours kBackwardBranch{"#e8daef", kBackward};
constexpr Colours kChannel{"#f5b7b1", kCrossingProcesses};
constexpr Colours kGradient{"#bb8fce", "#6c3483"};

Colours colours_of(NodeKind kind, bool backward) {
  switch (kind) {
    case NodeKind::Input:
    case NodeKind::Output:
      return kEnds;
    case NodeKind::Call:
    case NodeKind::Return:
      return backward ? kBackwardCrossing : kCrossing;
    case NodeKind::Merge:
    case NodeKind::Switch:
      return backward ? kBackwardBranch : kBranch;
    case NodeKind::Accumulate:
      return kGradient;
    case NodeKind::Enter:
    case NodeKind::Exit:
    case NodeKind::NextIteration:
      return kLoop;
    case NodeKind::Send:
    case NodeKind::Recv:
      return kChannel;
    case NodeKind::Const:
    case NodeKind::Op:
      break;
  }
  return backward ? kBackwardOperation : kOperation;
}

std::string_view shape_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::Op:
      return "shape=ellipse style=filled";
    case NodeKind::Call:
    case NodeKind::Return:
    case NodeKind::Accumulate:
    case NodeKind::Send:
    case NodeKind::Recv:
      return "shape=box style=filled";
    case NodeKind::Merge:
      return "shape=invhouse style=filled";
    default:
      return "shape=box style=\"filled,rounded\"";
  }
}

}  // namespace

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

std::string style_of(const Node& node, bool backward) {
  if (node.kind == NodeKind::Switch) return "shape=plain fontcolor=black";
  if (node.kind == NodeKind::Const) {
    const bool is_parameter = node.parameter >= 0;
    return fmt::format("shape=plaintext fontsize=10 width=0 height=0 margin=0.04 fontcolor=\"{}\"",
                       is_parameter ? "#a04000" : "#5d6d7e");
  }
  const Colours colours = colours_of(node.kind, backward);
  return fmt::format("{} fillcolor=\"{}\" color=\"{}\"", shape_of(node), colours.fill, colours.line);
}

std::string title_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::Const:
      return node.parameter >= 0 ? fmt::format("<I>{}</I>", escape_html(node.name))
                                 : escape_html(to_string(node.constant, node.type));
    case NodeKind::Op:
      return escape_html(node.op->symbol.empty() ? node.op->name.value : node.op->symbol);
    case NodeKind::Call:
      return "CALL" + subscript(node.site.index());
    case NodeKind::Return:
      return "RETURN" + subscript(node.site.index());
    case NodeKind::Send:
      return "SEND" + subscript(node.index);
    case NodeKind::Recv:
      return "RECV" + subscript(node.index);
    default:
      return std::string(name_of(node.kind));
  }
}

std::string subscript(std::size_t number) {
  std::string text;
  for (const char digit : std::to_string(number)) {
    text += "\xE2\x82";  // U+2080 to U+2089
    text += static_cast<char>(0x80 + (digit - '0'));
  }
  return text;
}

std::string note_line(const std::string& note) {
  return fmt::format("<BR/><FONT POINT-SIZE=\"9\">{}</FONT>", escape_html(note));
}

std::string with_sides(const std::string& label, bool backward) {
  const Colours colours = colours_of(NodeKind::Switch, backward);
  return fmt::format(
      "<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"3\" BGCOLOR=\"{}\" "
      "COLOR=\"{}\"><TR><TD COLSPAN=\"2\">{}</TD></TR><TR><TD PORT=\"o0\"><FONT "
      "POINT-SIZE=\"9\">T</FONT></TD>"
      "<TD PORT=\"o1\"><FONT POINT-SIZE=\"9\">F</FONT></TD></TR></TABLE>",
      colours.fill, colours.line, label);
}

std::string legend(const Graph& graph, const std::vector<bool>& backward) {
  std::string rows;
  const auto row = [&](const Colours& colours, std::string_view sample, std::string_view meaning) {
    rows += fmt::format(
        "<TR><TD BGCOLOR=\"{}\" COLOR=\"{}\" BORDER=\"1\">{}</TD><TD ALIGN=\"LEFT\">{}&#160;&#160;</TD></TR>",
        colours.fill, colours.line, sample, meaning);
  };
  const auto has = [&](NodeKind kind) {
    return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                       [&](const Node& node) { return node.kind == kind; });
  };
  row(kEnds, "Input", "arguments and results of the program");
  row(kOperation, "+", "an operation: fires when all operands have come under the same tag");
  if (has(NodeKind::Call)) {
    row(kCrossing, "CALL", "into a function: puts the label of the call site in front of the tag");
    row(kCrossing, "RETURN", "back: takes only tags that begin with its label, and removes it");
  }
  if (has(NodeKind::Switch)) row(kBranch, "Switch", "sends a value to its true or its false side");
  if (has(NodeKind::Merge)) row(kBranch, "Merge", "passes on what comes from either side, or from any call");
  if (has(NodeKind::Enter)) row(kLoop, "Enter", "Enter, NextIteration, Exit: count iterations in the tag");
  if (std::find(backward.begin(), backward.end(), true) != backward.end()) {
    row(kBackwardOperation, "*", "the backward phase: needs the gradients of results");
  }
  if (has(NodeKind::Accumulate)) row(kGradient, "Accumulate", "adds to the gradient of a parameter");
  if (has(NodeKind::Send) || has(NodeKind::Recv))
    row(kChannel, "SEND", "to RECV of the same number in another process: tokens with their tags");
  rows +=
      "<TR><TD>- - -&gt;</TD><TD ALIGN=\"LEFT\">control: order and deadness, no value</TD></TR>"
      "<TR><TD>-----&#9679;</TD><TD ALIGN=\"LEFT\">the predicate of a Switch</TD></TR>";
  return fmt::format(
      "legend [shape=plain fontsize=10 label=<<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"3\" "
      "CELLPADDING=\"3\" COLOR=\"#ccd1d1\" STYLE=\"ROUNDED\">{}</TABLE>>]\n",
      rows);
}

}  // namespace hiaton::graph
