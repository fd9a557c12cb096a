// What programs print.
#pragma once

#include <cstdint>
#include <span>

#include "hiaton/run.h"
#include "tensor/strings.h"

namespace hiaton::exec {

/// Gives the text, as one line, to whom the options name. Lines of several threads do not mix.
void print_line(const RunOptions& options, std::span<const int32_t> code_points);

}  // namespace hiaton::exec
