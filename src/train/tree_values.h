// Trees of data files as values of a model's data type, and what a model predicts as predictions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hiaton/engine.h"
#include "hiaton/train.h"
#include "hiaton/trees.h"

namespace hiaton::train {

/// A model says by its data type what trees it takes. The type has a variant for leaves with a field `word`,
/// and variants for inner nodes whose children are two fields of the type itself (binary trees) or one list
/// of it (any number of children); each may have a field `label`, -1 where a node has none. All words and
/// labels are i64.
class TreeValues {
 public:
  /// `program` takes one tree, and perhaps an i64 behind it, a seed. Throws ProgramError, with `name` of the
  /// model, where it does not.
  TreeValues(const Program& program, std::string name);

  /// Throws ProgramError where a node has a number of children that the model has no variant for.
  Value value_of(const Tree& tree) const;

 private:
  struct Shape {
    uint32_t variant = 0;
    std::vector<int> roles;  ///< by field
    FieldLayout layout;
    bool exists = false;
  };
  enum Role : int { kLabel, kWord, kChild, kChildren };

  std::string name_;
  Type type_;
  bool has_seed_ = false;
  Shape leaf_;
  Shape binary_;
  Shape list_;
};

/// "x: f32, y: i64".
std::string show_parameters(const std::vector<EntryParameter>& parameters);

/// The tensors [classes] in a predicted value, in the order in which they stand in it. There must be one for
/// each node of the tree in preorder, or one alone, for the root, and where they are finite, they must be
/// probabilities. `name` of the model stands in messages.
Prediction prediction_in(const Value& value, const Tree& tree, int32_t classes, std::string_view name);

}  // namespace hiaton::train
