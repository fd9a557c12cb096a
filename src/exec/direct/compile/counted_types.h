// Finds the types whose values may have several references, so that workers could count the same ones at
// once.
#pragma once

#include <string>
#include <unordered_set>

#include "hiaton/type.h"

namespace hiaton::exec::direct {

/// The data types of whose values the code takes further references. A value that it takes apart while others
/// refer to it gives further references to its fields, so the types of the fields belong to them.
///
/// No value of another type ever has a second reference that a run counts. So nobody but the holder of that
/// one reference writes its count, and it passes to another worker without a look at it.
class CountedTypes {
 public:
  /// The code takes references of values of this type.
  void add(const Type& type);
  /// Whether values of the data type, or what they may refer to, may get further references. True of what
  /// holds tensors: operations share those.
  bool contain(const Type& type) const;

 private:
  std::unordered_set<std::string> names_;
};

}  // namespace hiaton::exec::direct
