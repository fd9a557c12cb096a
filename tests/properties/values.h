// Random types and values, the awkward ones often, and when two are the same.
#pragma once

#include "hiaton/value.h"
#include "properties/random_choices.h"

namespace hiaton::properties {

DType random_type(Random& random);
Value random_value(Random& random, DType type);

/// Equal, or both not a number.
bool same(const Value& a, const Value& b);

}  // namespace hiaton::properties
