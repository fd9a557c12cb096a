// Which vector instructions the machine has.
#pragma once

namespace hiaton::kernels {

/// Sets of vector instructions that kernels are written for, each including those before it.
enum class InstructionSet { Portable, Avx2, Avx512 };

/// The best set that this machine runs; found out once. Avx2 stands for AVX2 and FMA, Avx512 for the F, BW,
/// DQ and VL parts.
InstructionSet instruction_set();

}  // namespace hiaton::kernels
