#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "hiaton/error.h"
#include "hiaton/graph.h"

namespace hiaton::graph {
namespace {

/// A nameless temporary file: no size is too large for it, and nobody waits for its other end.
class TemporaryFile {
 public:
  TemporaryFile() : file_(std::tmpfile(), &std::fclose) {
    if (file_ == nullptr)
      throw ProgramError(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
  }

  int descriptor() const { return ::fileno(file_.get()); }

  void write(const std::string& text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
    if (!written || std::fflush(file_.get()) != 0) {
      throw ProgramError(fmt::format("cannot write a temporary file: {}", std::strerror(errno)));
    }
    std::rewind(file_.get());
  }

  std::string read() {
    std::rewind(file_.get());
    std::string text;
    char block[1 << 16];
    while (const std::size_t count = std::fread(block, 1, sizeof block, file_.get()))
      text.append(block, count);
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

/// Runs `dot -Tsvg` and gives what waitpid says of its end.
int run_dot(const TemporaryFile& input, const TemporaryFile& output, const TemporaryFile& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  char program[] = "dot";
  char format[] = "-Tsvg";
  char* arguments[] = {program, format, nullptr};
  pid_t process = 0;
  const int failure = ::posix_spawnp(&process, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT) {
    throw ProgramError(
        "drawing a graph needs the program 'dot' of Graphviz, which is not installed (on Debian: apt install "
        "graphviz)");
  }
  if (failure != 0)
    throw ProgramError(fmt::format("cannot run 'dot' of Graphviz: {}", std::strerror(failure)));
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string drawn(const std::string& dot) {
  TemporaryFile input;
  TemporaryFile output;
  TemporaryFile errors;
  input.write(dot);
  const int status = run_dot(input, output, errors);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output.read();
  const std::string how = WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                                              : fmt::format("failed with status {}", WEXITSTATUS(status));
  throw ProgramError(fmt::format("'dot' of Graphviz {}: {}", how, errors.read()));
}

}  // namespace

std::string to_svg(const Graph& graph, const DrawOptions& options) {
  return drawn(to_dot(graph, options));
}

std::string to_svg(std::span<const DrawnPart> parts, const DrawOptions& options) {
  return drawn(to_dot(parts, options));
}

}  // namespace hiaton::graph
