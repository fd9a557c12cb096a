// hiaton check FILE...
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "hiaton/passes.h"
#include "output.h"
#include "program_file.h"
#include "program_options.h"

namespace hiaton::cli {
namespace {

/// A program is lowered to its graph; a text without `main` is a collection of functions and only checked.
/// Nothing is simplified: that can find no errors.
std::string check_file(const std::string& file, const std::map<std::string, int64_t>& sizes) {
  const std::shared_ptr<const Source> source = read_program_named(file);
  ir::Module module = lang::parse(source, {sizes});
  const std::size_t count = module.functions.size();
  if (module.find("main")) {
    passes::lower(passes::add_gradients(passes::loops_to_calls_for_gradients(std::move(module))));
  }
  return fmt::format("{}: {} function{}, no errors\n", source->name(), count, count == 1 ? "" : "s");
}

/// Every file is checked, also after one with errors.
int check_files(const std::vector<std::string>& files, const std::map<std::string, int64_t>& sizes) {
  int status = kSuccess;
  for (const std::string& file : files) {
    try {
      write_to_stdout(check_file(file, sizes));
    } catch (const ProgramError& error) {
      complain(error.what());
      status = kError;
    }
  }
  return status;
}

}  // namespace

Command add_check_command(CLI::App& app) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto sizes = std::make_shared<std::map<std::string, int64_t>>();
  CLI::App* options = app.add_subcommand("check", "Check programs without running them");
  options->add_option("FILE", *files, "Programs (.hia); - is standard input")->type_name("")->required();
  add_size_option(*options, *sizes);
  return {options, [files, sizes](const std::vector<std::string>& after_dashes) {
            std::vector<std::string> all = *files;
            all.insert(all.end(), after_dashes.begin(), after_dashes.end());
            return check_files(all, *sizes);
          }};
}

}  // namespace hiaton::cli
