// Who holds the data values of a structure, and until when.
//
// A frame holds a data value by a counted reference, or borrows it from somebody who holds it longer. The
// last read of a value that is held moves its reference on; earlier ones take another. What is the same for
// all forms of a function stands here: which data values each item reads, and which parameters a function
// borrows from its caller. The statements of a form say the rest: see statements.h.
#pragma once

#include <unordered_map>
#include <vector>

#include "exec/structure.h"
#include "hiaton/op.h"

namespace hiaton::exec::direct {

/// Whether the node is the operation that has this role.
inline bool has_role(const graph::Node& node, Role role) {
  return node.kind == graph::NodeKind::Op && node.op->role == role;
}
/// Whether the node compares two numbers of type i64.
bool is_equality(const graph::Node& node);

class Ownership {
 public:
  /// Functions that are copies of each other (PlanOptions::copies) all borrow the same.
  Ownership(const graph::Graph& graph, const Structure& structure,
            const std::vector<std::vector<graph::FunctionId>>& copies = {});

  /// The data values that the item, and what stands inside it, reads and that come from outside of it. Each
  /// stands there once.
  const std::vector<graph::NodeId>& reads_of(const Item& item) const { return reads_.at(item.key()); }
  /// Whether the item, or what stands inside it, reads or makes data values.
  bool touches_data(const Item& item) const;
  /// Whether the function borrows its parameter: it never hands it on, and does not take it apart to build
  /// something of its size, or every caller keeps it for later. The caller holds it until the call has
  /// returned.
  bool is_borrowed(graph::FunctionId function, std::size_t parameter) const {
    return borrowed_[function.index()][parameter];
  }
  /// Whether somebody else holds the value for longer than a frame of its function: constants, borrowed
  /// parameters, and fields of these.
  bool outlives_frame(graph::NodeId value) const;
  /// Whether nodes hold data values or tensors at all.
  bool has_data() const { return has_data_; }
  /// Whether references to the value are counted: of data values and of tensors.
  bool is_data(graph::NodeId value) const { return !graph_[value].type.is_scalar(); }
  bool is_data(graph::OutPort port) const { return is_data(structure_.origin(port)); }
  /// The data value whose variant the predicate tests, and which it must be to hold; nothing where the
  /// predicate is something else.
  struct VariantTest {
    graph::NodeId data;
    uint32_t variant;
  };
  std::optional<VariantTest> variant_test(graph::OutPort predicate) const;
  /// Whether in this block the value is sure to be of the variant, by the predicates around it.
  bool is_known_variant(BlockId block, graph::NodeId data, uint32_t variant) const;
  /// Whether it is sure to be of one without fields.
  bool is_known_without_fields(BlockId block, graph::NodeId data) const;

 private:
  class Borrowing;
  const std::vector<graph::NodeId>& find_reads(const Item& item);

  const graph::Graph& graph_;
  const Structure& structure_;
  bool has_data_ = false;
  std::unordered_map<uint64_t, std::vector<graph::NodeId>> reads_;
  std::vector<std::vector<bool>> borrowed_;
  struct Param {
    std::size_t function;
    std::size_t index;
  };
  std::unordered_map<graph::NodeId, Param> param_of_;
  /// By block that is a side: its conditional and which side.
  struct Side {
    uint32_t conditional;
    int side;
  };
  std::unordered_map<BlockId, Side> sides_;
};

}  // namespace hiaton::exec::direct
