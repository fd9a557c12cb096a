// Random types and values, the awkward ones often.
#pragma once

#include "hiaton/value.h"
#include "properties/random.h"

namespace hiaton::properties {

DType random_type(Random& random);
Value random_value(Random& random, DType type);

}  // namespace hiaton::properties
