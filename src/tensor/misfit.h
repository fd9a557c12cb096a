// Why a value cannot stand where a type is asked for.
#pragma once

#include <optional>
#include <string>

#include "hiaton/value.h"

namespace hiaton {

/// What does not fit, as a message names what it found: "1.5 (f64)", "f32[2, 3]", or the first part of a data
/// value that does not, with the field that it is. Nothing where all fits.
std::optional<std::string> misfit(const Value& value, const Type& type);

}  // namespace hiaton
