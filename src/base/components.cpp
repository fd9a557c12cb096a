#include "base/components.h"

#include <algorithm>

namespace hiaton {
namespace {

class ComponentFinder {
 public:
  explicit ComponentFinder(const std::vector<std::vector<std::size_t>>& successors)
      : successors_(successors), number_(successors.size(), kUnseen), low_(number_) {
    found_.of.assign(successors.size(), kUnseen);
    found_.order.reserve(successors.size());
  }

  Components run() {
    for (std::size_t root = 0; root < successors_.size(); ++root) {
      if (number_[root] == kUnseen) visit_from(root);
    }
    return std::move(found_);
  }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX;

  /// A node on the way from the root, and which of its successors is next.
  struct Step {
    std::size_t node;
    std::size_t next;
  };

  void visit_from(std::size_t root) {
    begin(root);
    while (!path_.empty()) {
      auto& [node, next] = path_.back();
      if (next == successors_[node].size()) {
        finish_last();
        continue;
      }
      const std::size_t successor = successors_[node][next++];
      if (number_[successor] == kUnseen) {
        begin(successor);
      } else if (found_.of[successor] == kUnseen) {
        low_[node] = std::min(low_[node], number_[successor]);
      }
    }
  }

  void begin(std::size_t node) {
    number_[node] = low_[node] = seen_++;
    open_.push_back(node);
    path_.push_back({node, 0});
  }

  void finish_last() {
    const std::size_t node = path_.back().node;
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
    if (low_[node] != number_[node]) return;
    const std::size_t before = found_.order.size();
    do {
      found_.of[open_.back()] = static_cast<uint32_t>(found_.sizes.size());
      found_.order.push_back(open_.back());
      open_.pop_back();
    } while (found_.order.back() != node);
    found_.sizes.push_back(found_.order.size() - before);
  }

  const std::vector<std::vector<std::size_t>>& successors_;
  std::vector<uint32_t> number_;  ///< by node: when it was first seen
  std::vector<uint32_t> low_;     ///< by node: the first seen that it leads back to
  std::vector<std::size_t> open_;
  std::vector<Step> path_;
  uint32_t seen_ = 0;
  Components found_;
};

}  // namespace

Components strongly_connected_components(const std::vector<std::vector<std::size_t>>& successors) {
  return ComponentFinder(successors).run();
}

}  // namespace hiaton
