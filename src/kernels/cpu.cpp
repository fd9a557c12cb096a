#include "kernels/cpu.h"

namespace hiaton::kernels {
namespace {

InstructionSet detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return InstructionSet::Avx512;
  if (avx2) return InstructionSet::Avx2;
#endif
  return InstructionSet::Portable;
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet best = detect();
  return best;
}

}  // namespace hiaton::kernels
