#include "launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "net/in_process.h"
#include "output.h"

extern char** environ;

namespace hiaton::cli {
namespace {

namespace fs = std::filesystem;

/// A signal handler reaches nothing but a global.
std::atomic<bool> launch_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

extern "C" void note_interrupt_of_launch(int) {
  launch_interrupted.store(true, std::memory_order_relaxed);  // a flag by itself: it publishes no other data
}

struct Launcher {
  net::Mpi mpi;
  std::string path;
};

std::optional<std::string> find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string file = fmt::format("{}/{}", rest.substr(0, end), name);
    if (end > 0 && access(file.c_str(), X_OK) == 0) return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

/// The launcher of an MPI whose plug-in is there too.
Launcher find_launcher() {
  for (net::Mpi mpi : {net::Mpi::OpenMpi, net::Mpi::Mpich}) {
    if (!net::has_plugin(mpi)) continue;
    for (const std::string& name : net::launcher_names(mpi)) {
      if (const auto path = find_in_path(name)) return {mpi, *path};
    }
  }
  throw SystemError(
      "--hosts: expected Open MPI or MPICH with its plug-in, found neither (packages hiaton-mpi, and "
      "openmpi-bin or mpich)");
}

/// The words and the environment of a command, as exec takes them.
class ExecWords {
 public:
  explicit ExecWords(const net::LaunchCommand& command) : words_(command.words) {
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      const std::string_view name = text.substr(0, text.find('='));
      const auto is_set = [name](const auto& setting) { return setting.first == name; };
      if (std::none_of(command.environment.begin(), command.environment.end(), is_set))
        variables_.emplace_back(text);
    }
    for (const auto& [name, value] : command.environment)
      variables_.push_back(fmt::format("{}={}", name, value));
    for (std::string& word : words_) argv_.push_back(word.data());
    for (std::string& variable : variables_) envp_.push_back(variable.data());
    argv_.push_back(nullptr);
    envp_.push_back(nullptr);
  }

  char* const* argv() const { return argv_.data(); }
  char* const* envp() const { return envp_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<std::string> variables_;
  std::vector<char*> argv_;
  std::vector<char*> envp_;
};

struct Started {
  pid_t process;
  int standard_error;
};

Started start(const net::LaunchCommand& command) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw SystemError(fmt::format("cannot start '{}': {}", command.words[0], std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t process = 0;
  const ExecWords words(command);
  const int error =
      posix_spawn(&process, command.words[0].c_str(), &actions, nullptr, words.argv(), words.envp());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    throw SystemError(fmt::format("cannot start '{}': {}", command.words[0], std::strerror(error)));
  }
  return {process, ends[0]};
}

struct Said {
  net::LauncherNotes notes;
  bool has_error = false;  ///< of a process
};

/// Lets pass what the processes say.
Said pass_on(int standard_error) {
  Said said;
  std::FILE* lines = fdopen(standard_error, "r");
  char* line = nullptr;
  std::size_t capacity = 0;
  for (ssize_t length = 0; (length = getline(&line, &capacity, lines)) > 0;) {
    std::string_view text(line, static_cast<std::size_t>(length));
    const std::string_view without_end = text.substr(0, text.find_last_not_of("\r\n") + 1);
    if (said.notes.take(without_end)) continue;
    said.has_error |= without_end.find("error: ") != std::string_view::npos;
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  std::free(line);
  std::fclose(lines);
  return said;
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string reason_of(const Said& said, int status) {
  if (const auto lost = said.notes.lost_process()) return lost->message;
  if (said.notes.text().empty()) return fmt::format("the launcher ended with status {}", status);
  return fmt::format("the launcher ended with status {}:\n{}", status, said.notes.text());
}

}  // namespace

LaunchEnd launch(const std::vector<net::Host>& hosts, const std::vector<std::string>& words) {
  const Launcher launcher = find_launcher();
  std::vector<std::string> program{fs::canonical("/proc/self/exe").string()};
  program.insert(program.end(), words.begin(), words.end());
  const net::LaunchCommand command = net::launch_command(launcher.mpi, launcher.path, hosts, program,
                                                         net::name_of_this_machine(), geteuid() == 0);
  const Started started = start(command);
  std::signal(SIGINT, note_interrupt_of_launch);  // the launcher gets it too, and ends the processes
  const Said said = pass_on(started.standard_error);
  const int status = wait_for(started.process);
  if (status == 0) return {};
  if (launch_interrupted.load(std::memory_order_relaxed)) return {.status = kInterrupted};
  return {.status = status == kUsage ? int{kUsage} : int{kError},
          .complaint = said.has_error ? "" : reason_of(said, status),
          .lost = said.notes.lost_process()};
}

int report(const LaunchEnd& end) {
  if (!end.complaint.empty()) complain(end.complaint);
  return end.status;
}

}  // namespace hiaton::cli
