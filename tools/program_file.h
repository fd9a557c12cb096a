// Programs that the command line names: files, and standard input.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hiaton/engine.h"

namespace hiaton::cli {

/// Stands for standard input where a file is wanted.
inline constexpr std::string_view kStandardInput = "-";

/// The text of a program with its imports. Throws SystemError and ProgramError.
std::shared_ptr<const Source> read_program_named(const std::string& file);

/// The program, or the saved graph.
Program load_program_named(const std::string& file, const CompileOptions& options);

}  // namespace hiaton::cli
