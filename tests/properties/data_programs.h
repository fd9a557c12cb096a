// Random programs on data types of up to eight variants: values are built, matched, changed and measured, by
// recursion and in loops.
#pragma once

#include <cstdint>
#include <string>

namespace hiaton::properties {

/// The text of a program whose `main` takes how often its loops turn, and a number that decides about values.
/// Where `has_tensors`, values hold tensors as well, and loops carry some.
std::string random_data_program(uint64_t seed, bool has_tensors = false);

}  // namespace hiaton::properties
