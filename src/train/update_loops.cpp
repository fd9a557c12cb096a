#include "train/update_loops.h"

namespace hiaton::train {

template <class T>
const UpdateLoops<T>& update_loops(kernels::InstructionSet set) {
  using kernels::InstructionSet;
  using kernels::made_once;
#if defined(__x86_64__)
  if (set == InstructionSet::Avx512) return made_once<avx512::update_loops<T>>();
  if (set == InstructionSet::Avx2) return made_once<avx2::update_loops<T>>();
#endif
  return made_once<portable::update_loops<T>>();
}
template const UpdateLoops<float>& update_loops(kernels::InstructionSet);
template const UpdateLoops<double>& update_loops(kernels::InstructionSet);

}  // namespace hiaton::train
