#include "graph/labels.h"
#include "graph/validate.h"

namespace hiaton::graph {
namespace {

/// Kahn's algorithm over the edges that keep the tag; what is left over stands on cycles or behind them.
class CycleCheck {
 public:
  CycleCheck(const Graph& graph, Findings& findings)
      : graph_(graph), findings_(findings), waiting_for_(graph.nodes().size()) {}

  void run() {
    sort();
    constexpr uint32_t kUnseen = 0;
    std::vector<uint32_t> seen_by(waiting_for_.size(), kUnseen);
    for (std::size_t n = 0; n < waiting_for_.size(); ++n) {
      if (waiting_for_[n] == 0 || seen_by[n] != kUnseen) continue;
      const uint32_t walk = static_cast<uint32_t>(n + 1);
      NodeId at(n);
      while (seen_by[at.index()] == kUnseen) {
        seen_by[at.index()] = walk;
        at = waiting_predecessor(at);
      }
      if (seen_by[at.index()] == walk) report(at);
    }
  }

 private:
  /// Whether a token that goes along the edge gets another tag, or comes to a Return: a result may be an
  /// argument of its own call, where the function can give it without that argument.
  static bool changes_tag(const Node& from, const Node& to) {
    return from.kind == NodeKind::NextIteration ||
           (from.kind == NodeKind::Call && to.kind == NodeKind::Merge) || to.kind == NodeKind::Return;
  }

  template <class Visit>
  void for_each_predecessor(NodeId id, Visit visit) const {
    const Node& node = graph_[id];
    for (const std::span<const OutPort> edges : {std::span(node.inputs), std::span(node.controls)}) {
      for (OutPort edge : edges) {
        const Node* source = source_of(graph_, edge);
        if (source != nullptr && !changes_tag(*source, node)) visit(edge.node);
      }
    }
  }

  void sort() {
    std::vector<NodeId> ready;
    for (std::size_t n = 0; n < waiting_for_.size(); ++n) {
      for_each_predecessor(NodeId(n), [&](NodeId) { ++waiting_for_[n]; });
      if (waiting_for_[n] == 0) ready.emplace_back(n);
    }
    while (!ready.empty()) {
      const NodeId id = ready.back();
      ready.pop_back();
      const auto release = [&](NodeId reader) {
        if (changes_tag(graph_[id], graph_[reader])) return;
        if (--waiting_for_[reader.index()] == 0) ready.push_back(reader);
      };
      for (uint32_t port = 0; port < graph_[id].output_count(); ++port) {
        for (InPort reader : graph_.consumers({id, port})) release(reader.node);
        for (NodeId reader : graph_.control_consumers({id, port})) release(reader);
      }
    }
  }

  NodeId waiting_predecessor(NodeId id) const {
    NodeId found;
    for_each_predecessor(id, [&](NodeId predecessor) {
      if (!found.valid() && waiting_for_[predecessor.index()] > 0) found = predecessor;
    });
    return found;
  }

  void report(NodeId start) {
    constexpr std::size_t kShown = 10;
    std::string path = label_of(graph_, OutPort{start});
    std::size_t length = 0;
    NodeId at = start;
    do {
      at = waiting_predecessor(at);
      if (++length <= kShown) path = fmt::format("%{} -> {}", at.index(), path);
    } while (at != start);
    if (length > kShown) path = "... -> " + path;
    findings_.at(start,
                 "it stands on a cycle of {} nodes that goes through no NextIteration, Call or Return: {}",
                 length, path);
  }

  const Graph& graph_;
  Findings& findings_;
  std::vector<uint32_t> waiting_for_;  ///< by node: edges from nodes that are not sorted yet
};

}  // namespace

void check_cycles(const Graph& graph, Findings& findings) {
  CycleCheck(graph, findings).run();
}

}  // namespace hiaton::graph
