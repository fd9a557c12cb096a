// Which vector instructions the machine has, and what vector.inc.h and math.inc.h include outside of the
// namespaces that they stand in.
#pragma once

#include <array>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hiaton::kernels {

/// Sets of vector instructions that kernels are written for, each including those before it.
enum class InstructionSet { Portable, Avx2, Avx512 };

/// The best set that this machine runs; found out once. Avx2 stands for AVX2 and FMA, Avx512 for the F, BW,
/// DQ and VL parts.
InstructionSet instruction_set();

/// What `kMake` gives, called when first asked for: a function compiled for an instruction set may use it
/// also where it only fills in a table.
template <auto kMake>
const auto& made_once() {
  static const auto made = kMake();
  return made;
}

}  // namespace hiaton::kernels
