#include <fmt/format.h>

#include "place_option.h"

namespace hiaton::cli {
namespace {

/// What the graph that was split has nowhere else.
std::vector<bool> state_machine_of(const partition::Part& part) {
  std::vector<bool> is_copied;
  for (std::size_t n = 0; n < part.nodes.size(); ++n) {
    const graph::NodeKind kind = part.graph.nodes()[n].kind;
    is_copied.push_back(!part.nodes[n].valid() && kind != graph::NodeKind::Send &&
                        kind != graph::NodeKind::Recv);
  }
  return is_copied;
}

}  // namespace

std::vector<graph::DrawnPart> drawn_parts(const partition::Partition& partition) {
  std::vector<graph::DrawnPart> drawn;
  for (const partition::Part& part : partition.parts)
    drawn.push_back({part.graph, fmt::format("process {}", drawn.size()), state_machine_of(part)});
  return drawn;
}

}  // namespace hiaton::cli
