// The families of operations, in the order of their documentation. Each is the file of its name.
#include <span>

#include "hiaton/op.h"

#define HIATON_FAMILIES(X) \
  X(arithmetic)            \
  X(wrapping)              \
  X(comparison)            \
  X(logic)                 \
  X(bits)                  \
  X(math)                  \
  X(cast)                  \
  X(activations)           \
  X(linear_algebra)        \
  X(contraction)           \
  X(joining)               \
  X(reshaping)             \
  X(repetition)            \
  X(rows)                  \
  X(reductions)            \
  X(normalization)         \
  X(order)                 \
  X(classification)        \
  X(choice)                \
  X(random)                \
  X(checks)                \
  X(convolution)           \
  X(pooling)               \
  X(data)                  \
  X(strings)

namespace hiaton {
namespace ops {

#define HIATON_DECLARE(family) std::span<const OpDef> family();
HIATON_FAMILIES(HIATON_DECLARE)
#undef HIATON_DECLARE

}  // namespace ops

const Catalog& catalog() {
  static const Catalog all([] {
    std::vector<const OpDef*> list;
#define HIATON_LIST(family) \
  for (const OpDef& op : ops::family()) list.push_back(&op);
    HIATON_FAMILIES(HIATON_LIST)
#undef HIATON_LIST
    return list;
  }());
  return all;
}

}  // namespace hiaton
#undef HIATON_FAMILIES
