// How pictures of graphs look.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hiaton/graph.h"

namespace hiaton::graph {

/// Colours of edges between functions, and of the backward phase.
inline constexpr std::string_view kCall = "#b9770e";
inline constexpr std::string_view kBackward = "#8e44ad";
/// The colour of edges between processes, and of the boxes of these.
inline constexpr std::string_view kCrossingProcesses = "#b03a2e";
/// What the nodes of state machines have besides.
inline constexpr std::string_view kOfStateMachine = " color=\"#b03a2e\" fontcolor=\"#b03a2e\" penwidth=2";

std::string escape_html(std::string_view text);

/// Shape and colours by kind: what crosses functions is orange, what crosses loops green, branches blue, the
/// backward phase violet.
std::string style_of(const Node& node, bool backward);
/// "CALL" with a lowered "0", as the paper writes it; the symbol of an operation that has one. HTML.
std::string title_of(const Node& node);
/// A lowered number, in characters of their own: viewers differ in how they lower others.
std::string subscript(std::size_t number);
/// A smaller line below a title. HTML.
std::string note_line(const std::string& note);
/// A Switch: a box with one cell below for each output. HTML.
std::string with_sides(const std::string& label, bool backward);

/// A box that explains the colours of what the graph has.
std::string legend(const Graph& graph, const std::vector<bool>& backward);

}  // namespace hiaton::graph
