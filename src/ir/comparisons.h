// Which values of data types stand in an order.
#pragma once

#include "hiaton/type.h"

namespace hiaton::ir {

/// Whether values of the type are numbers, strings, or tuples of such ones.
bool is_ordered(const Type& type);

}  // namespace hiaton::ir
