#include "hiaton/error.h"
#include "hiaton/ir.h"

namespace hiaton::ir {

void verify(const Module&) {}

}  // namespace hiaton::ir
