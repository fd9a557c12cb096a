// hiaton graph FILE [--after=PASS] [--format=FORMAT] [--out=FILE]
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "compile_options.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "output.h"

namespace hiaton::cli {
namespace {

struct GraphCommand {
  std::string file;
  std::string after = "lower";
  std::string format = "text";
  std::string out;
  CompileOptions compile;
};

/// A file that disappears with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content)
      : path_((std::filesystem::temp_directory_path() / "hiaton-XXXXXX").string()) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) {
      throw SystemError(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
    }
    close(descriptor);
    write_to(path_, content);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Draws with Graphviz.
std::string draw_svg(const std::string& dot) {
  constexpr int kCommandNotFound = 127;
  const TemporaryFile input(dot);
  std::FILE* pipe = popen(fmt::format("dot -Tsvg '{}'", input.path()).c_str(), "r");
  if (pipe == nullptr) throw SystemError(fmt::format("cannot start 'dot': {}", std::strerror(errno)));
  std::string svg;
  char chunk[1 << 14];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, pipe)) svg.append(chunk, count);
  const int status = pclose(pipe);
  if (status == 0) return svg;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCommandNotFound) {
    throw SystemError("--format=svg needs the command 'dot' of Graphviz; --format=dot does not");
  }
  throw SystemError(fmt::format("'dot' failed with status {}", status));
}

/// The program text after one of the passes that come before lowering.
std::string module_text(const GraphCommand& command) {
  const ir::Module module = lang::parse(read_source(command.file), {command.compile.sizes});
  const passes::SimplifyOptions& simplify = command.compile.simplify;
  if (command.after == "parse") return ir::print(module);
  if (command.after == "fold") return ir::print(passes::fold_constants(module, simplify.overflow));
  if (command.after == "flatten-logic") return ir::print(passes::flatten_logic(module, simplify.overflow));
  if (command.after == "cse") return ir::print(passes::merge_common(module, simplify.overflow));
  if (command.after == "dce") return ir::print(passes::drop_dead(module, simplify.overflow));
  if (command.after == "inline") return ir::print(passes::inline_small_functions(module));
  return ir::print(passes::simplify(module, simplify));
}

std::string graph_text(const GraphCommand& command) {
  const Program program = Program::from_file(command.file, command.compile);
  if (command.format == "dot") return graph::to_dot(program.graph());
  if (command.format == "svg") return draw_svg(graph::to_dot(program.graph()));
  if (command.format == "json") return graph::to_json(program.graph());
  return graph::to_text(program.graph());
}

int show_graph(const GraphCommand& command) {
  const bool of_module = command.after != "lower";
  if (of_module && command.format != "text") {
    throw UsageError(fmt::format("--after={} shows program text: --format={} needs --after=lower",
                                 command.after, command.format));
  }
  std::string text = of_module ? module_text(command) : graph_text(command);
  if (!text.ends_with('\n')) text += '\n';
  write_to(command.out, text);
  return kSuccess;
}

}  // namespace

Command add_graph_command(CLI::App& app) {
  auto command = std::make_shared<GraphCommand>();
  CLI::App* options = app.add_subcommand("graph", "Show the static tagged graph of a program");
  options->add_option("FILE", command->file, "A program (.hia), or a saved graph (.json)")
      ->type_name("")
      ->required();
  options
      ->add_option("--after", command->after,
                   "What to show: the graph (lower), or the program as text after parse or after one of the "
                   "simplifications (fold, flatten-logic, cse, dce, inline), or after all (simplify)")
      ->check(CLI::IsMember({"parse", "fold", "flatten-logic", "cse", "dce", "inline", "simplify", "lower"}))
      ->type_name("PASS")
      ->capture_default_str();
  options
      ->add_option("--format", command->format,
                   "text; dot, for Graphviz; svg, drawn by Graphviz; json, to save it")
      ->check(CLI::IsMember({"text", "dot", "svg", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  options->add_option("--out", command->out, "Write to this file instead of standard output")
      ->type_name("FILE");
  add_compile_options(*options, command->compile);
  return {options, [command](const std::vector<std::string>&) { return show_graph(*command); }};
}

}  // namespace hiaton::cli
