#include <fmt/format.h>

#include <vector>

#include "choices.h"
#include "hiaton/error.h"
#include "output.h"
#include "program_options.h"

namespace hiaton::cli {
namespace {

constexpr const char* kCompilation = "Compilation";

void add_switch_off(CLI::App& command, const std::string& flag, bool& simplification,
                    const std::string& what) {
  command
      .add_flag_callback(
          flag, [&simplification] { simplification = false; }, "Leave out a simplification: " + what)
      ->group(kCompilation);
}

void switch_all_off(passes::SimplifyOptions& simplify) {
  simplify = passes::SimplifyOptions::none(simplify.overflow);
}

void add_size(std::map<std::string, int64_t>& sizes, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(fmt::format("--size: expected NAME=VALUE, found '{}'", text));
  }
  try {
    sizes[text.substr(0, equals)] = parse_value(DType::I64, text.substr(equals + 1)).as<int64_t>();
  } catch (const ProgramError& error) {
    throw UsageError(fmt::format("--size: {}", error.what()));
  }
}

}  // namespace

void add_size_option(CLI::App& command, std::map<std::string, int64_t>& sizes) {
  command
      .add_option_function<std::vector<std::string>>(
          "--size",
          [&sizes](const std::vector<std::string>& all) {
            for (const std::string& text : all) add_size(sizes, text);
          },
          "Another value for a size that the program declares")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(kCompilation);
}

void add_compile_options(CLI::App& command, CompileOptions& options) {
  add_size_option(command, options.sizes);
  passes::SimplifyOptions& simplify = options.simplify;
  command
      .add_option_function<std::string>(
          "--overflow",
          [&simplify](const std::string& mode) {
            simplify.overflow = mode == "trap" ? OverflowMode::Trap : OverflowMode::Wrap;
          },
          "What an integer result that does not fit becomes: its low bits (wrap), or an error (trap)")
      ->check(one_of({"wrap", "trap"}))
      ->type_name("MODE")
      ->default_str("wrap")
      ->group(kCompilation);
  command
      .add_flag_callback(
          "--no-simplify", [&simplify] { switch_all_off(simplify); }, "Lower the program as it is written")
      ->group(kCompilation);
  add_switch_off(command, "--no-fold", simplify.fold, "operations on constants");
  add_switch_off(command, "--no-flatten-logic", simplify.flatten_logic, "'and' and 'or' without a branch");
  add_switch_off(command, "--no-cse", simplify.cse, "common subexpressions");
  add_switch_off(command, "--no-dce", simplify.dce, "dead code");
  add_switch_off(command, "--no-inline", simplify.inline_small, "small functions in place of their calls");
}

}  // namespace hiaton::cli
