// Shapes of results.
#pragma once

#include <span>
#include <vector>

#include "hiaton/type.h"

namespace hiaton::ops {

bool is_fixed(const Dim& dim);
/// Whether the two may be one size at run time.
bool may_equal(const Dim& a, const Dim& b);
/// The shape of an elementwise result: aligned at the last dimension, sizes of 1 stretch. Throws ProgramError
/// where two dimensions do not go together.
std::vector<Dim> broadcast(std::span<const Type> operands);

}  // namespace hiaton::ops
