// Random programs on data types of up to eight variants: values are built, matched, changed and measured, by
// recursion and in loops.
#pragma once

#include <cstdint>
#include <string>

namespace hiaton::properties {

/// What values hold beside numbers and other values, and loops carry.
enum class FieldsOf : uint8_t { Numbers, Tensors, Strings, Bytes };

/// The text of a program whose `main` takes how often its loops turn, and a number that decides about values.
std::string random_data_program(uint64_t seed, FieldsOf fields);

}  // namespace hiaton::properties
