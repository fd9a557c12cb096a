// Rows of learned parameters that another process holds (RowSource).
#pragma once

#include "hiaton/op.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// The kernel of a gather whose table stands elsewhere.
Fault gather_from(RowSource& source, const KernelCall& call);

/// Runs the tensor kernel of the operation. `rows`: who has the rows of tables that are not here; may be
/// null.
inline Fault run_tensor_kernel(const KernelCall& call, RowSource* rows) {
  if (rows != nullptr && call.op->role == Role::Gather && rows->is_elsewhere(call.operands[0].elements))
    return gather_from(*rows, call);
  return call.op->tensor_kernel.value(call);
}

}  // namespace hiaton::exec
