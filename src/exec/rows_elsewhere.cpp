#include "exec/rows_elsewhere.h"

#include <algorithm>
#include <vector>

namespace hiaton::exec {

Fault gather_from(RowSource& source, const KernelCall& call) {
  const TensorArgument& table = call.operands[0];
  const TensorArgument& rows = call.operands[1];
  std::vector<int64_t> all;
  for (int64_t i = 0; i < call.batch; ++i) {
    const auto* numbers = rows.at<int64_t>(i);
    all.insert(all.end(), numbers, numbers + rows.size());
  }
  const bool is_outside =
      std::ranges::any_of(all, [&](int64_t row) { return row < 0 || row >= table.dims[0]; });
  if (is_outside) return Fault::Index;
  source.gather(table.elements, all, call.result.elements);
  return Fault::None;
}

}  // namespace hiaton::exec
