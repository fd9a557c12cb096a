#include "hiaton/graph.h"

namespace hiaton::graph {
namespace {

constexpr std::string_view kKindNames[] = {"Input",  "Output",        "Const",      "Op",     "Call",
                                           "Return", "Merge",         "Accumulate", "Switch", "Enter",
                                           "Exit",   "NextIteration", "Send",       "Recv"};

bool exists(const std::vector<Node>& nodes, OutPort port) {
  return port.node.index() < nodes.size() && port.port < nodes[port.node.index()].output_count();
}

}  // namespace

std::string_view name_of(NodeKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

/// Counting sort by producer. Dangling edges are left out: validate() reports them.
void Graph::index_readers() {
  const auto index = [&]<class Reader>(Readers<Reader>& readers, auto edges_of, auto reader_of) {
    constexpr std::size_t kPorts = Readers<Reader>::kPorts;
    const auto slot = [](OutPort from) { return from.node.index() * kPorts + from.port; };
    const auto for_each_edge = [&](auto visit) {
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        const auto& edges = edges_of(nodes_[n]);
        for (std::size_t i = 0; i < edges.size(); ++i) {
          if (exists(nodes_, edges[i])) visit(edges[i], reader_of(NodeId(n), i));
        }
      }
    };
    readers.starts.assign(nodes_.size() * kPorts + 1, 0);
    for_each_edge([&](OutPort from, Reader) { ++readers.starts[slot(from) + 1]; });
    for (std::size_t i = 1; i < readers.starts.size(); ++i) readers.starts[i] += readers.starts[i - 1];
    readers.all.resize(readers.starts.back());
    std::vector<uint32_t> next(readers.starts.begin(), readers.starts.end() - 1);
    for_each_edge([&](OutPort from, Reader reader) { readers.all[next[slot(from)]++] = reader; });
  };
  index(
      consumers_, [](const Node& node) -> const auto& { return node.inputs; },
      [](NodeId node, std::size_t port) {
        return InPort{node, static_cast<uint32_t>(port)};
      });
  index(
      control_consumers_, [](const Node& node) -> const auto& { return node.controls; },
      [](NodeId node, std::size_t) { return node; });
}

}  // namespace hiaton::graph
