#include "compile_options.h"

namespace hiaton::cli {
namespace {

constexpr const char* kGroup = "Compilation";

void add_switch_off(CLI::App& command, const std::string& flag, bool& simplification,
                    const std::string& what) {
  command
      .add_flag_callback(
          flag, [&simplification] { simplification = false; }, "Leave out a simplification: " + what)
      ->group(kGroup);
}

void switch_all_off(passes::SimplifyOptions& simplify) {
  simplify = passes::SimplifyOptions::none(simplify.overflow);
}

}  // namespace

void add_compile_options(CLI::App& command, CompileOptions& options) {
  passes::SimplifyOptions& simplify = options.simplify;
  command
      .add_option_function<std::string>(
          "--overflow",
          [&simplify](const std::string& mode) {
            simplify.overflow = mode == "trap" ? OverflowMode::Trap : OverflowMode::Wrap;
          },
          "What an integer result that does not fit becomes: its low bits (wrap), or an error (trap)")
      ->check(CLI::IsMember({"wrap", "trap"}))
      ->type_name("MODE")
      ->default_str("wrap")
      ->group(kGroup);
  command
      .add_flag_callback(
          "--no-simplify", [&simplify] { switch_all_off(simplify); }, "Lower the program as it is written")
      ->group(kGroup);
  add_switch_off(command, "--no-fold", simplify.fold, "operations on constants");
  add_switch_off(command, "--no-flatten-logic", simplify.flatten_logic, "'and' and 'or' without a branch");
  add_switch_off(command, "--no-cse", simplify.cse, "common subexpressions");
  add_switch_off(command, "--no-dce", simplify.dce, "dead code");
  add_switch_off(command, "--no-inline", simplify.inline_small, "small functions in place of their calls");
}

}  // namespace hiaton::cli
