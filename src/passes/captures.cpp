#include "passes/captures.h"

namespace hiaton::passes {
namespace {

/// Walks the blocks in program order with an explicit stack. Its time is linear in the program and the
/// captures: a use stops at the innermost open boundary that has captured the value before.
class CaptureFinder {
 public:
  CaptureFinder(const ir::Function& function, std::vector<ir::ValueIds>& captures)
      : function_(function),
        captures_(captures),
        visible_at_(function.values.size()),
        constant_(function.values.size()) {}

  void run() {
    open_block(function_.body);
    while (!open_.empty()) {
      OpenBlock& block = open_.back();
      const auto& nodes = function_[block.id].nodes;
      if (block.next == nodes.size()) {
        for (ir::ValueId result : function_[block.id].results) use(result);
        open_.pop_back();
      } else if (const ir::Node& node = function_[nodes[block.next]]; block.next_inner < node.blocks.size()) {
        open_inner(node, block.next_inner++);
      } else {
        leave(node);
        block.next_inner = 0;
        ++block.next;
      }
    }
  }

 private:
  struct OpenBlock {
    ir::BlockId id;
    std::size_t next = 0;        ///< node
    std::size_t next_inner = 0;  ///< block of that node
  };

  void open_block(ir::BlockId id) {
    for (ir::ValueId param : function_[id].params) define(param);
    open_.push_back({id});
  }

  void open_inner(const ir::Node& node, std::size_t inner) {
    if (inner == 0) use_operands(node);
    if (node.kind == ir::NodeKind::While || inner == 0) boundaries_.push_back(node.blocks[inner]);
    open_block(node.blocks[inner]);
  }

  void leave(const ir::Node& node) {
    if (node.blocks.empty()) use_operands(node);
    const std::size_t boundaries = node.kind == ir::NodeKind::While ? 2
                                   : node.kind == ir::NodeKind::If  ? 1
                                                                    : 0;
    for (std::size_t i = 0; i < boundaries; ++i) close_boundary();
    for (ir::ValueId result : node.results) {
      define(result);
      constant_[result.index()] = node.kind == ir::NodeKind::Const || node.kind == ir::NodeKind::Param;
    }
  }

  void close_boundary() {
    const std::size_t outside = boundaries_.size() - 1;
    for (ir::ValueId value : captures_[boundaries_.back().index()]) visible_at_[value.index()] = outside;
    boundaries_.pop_back();
  }

  void define(ir::ValueId value) { visible_at_[value.index()] = boundaries_.size(); }

  void use(ir::ValueId value) {
    if (constant_[value.index()]) return;
    std::size_t& level = visible_at_[value.index()];
    for (; level < boundaries_.size(); ++level) captures_[boundaries_[level].index()].push_back(value);
  }

  void use_operands(const ir::Node& node) {
    for (ir::ValueId operand : node.operands) use(operand);
  }

  const ir::Function& function_;
  std::vector<ir::ValueIds>& captures_;
  std::vector<OpenBlock> open_;
  std::vector<ir::BlockId> boundaries_;  ///< open ones, innermost last
  std::vector<std::size_t> visible_at_;  ///< by value: how many open boundaries it has been brought through
  std::vector<bool> constant_;
};

}  // namespace

Captures::Captures(const ir::Function& function) : by_block_(function.blocks.size()) {
  CaptureFinder(function, by_block_).run();
}

}  // namespace hiaton::passes
