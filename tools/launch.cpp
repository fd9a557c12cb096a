#include "launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "net/processes.h"
#include "output.h"
#include "passed_output.h"
#include "process.h"

extern char** environ;

namespace hiaton::cli {
namespace {

namespace fs = std::filesystem;

/// A signal handler reaches nothing but globals.
std::atomic<int> launch_interrupts = 0;   ///< how many have come
std::atomic<pid_t> launcher_process = 0;  ///< 0: none runs
static_assert(std::is_same_v<pid_t, int> && std::atomic<int>::is_always_lock_free,
              "a signal handler may not take a lock");

/// Both launchers end the processes when they get this signal, which they do not get by a Ctrl-C.
constexpr int kEndOfLauncher = SIGHUP;

/// The first signal goes on to all processes, as one that launchers pass on: they end when it suits them. The
/// second one ends the launcher, and so all processes at once.
extern "C" void pass_interrupt_on(int) {
  const int error = errno;
  // Both globals stand by themselves: they publish no other data.
  const bool is_first = launch_interrupts.fetch_add(1, std::memory_order_relaxed) == 0;
  const pid_t launcher = launcher_process.load(std::memory_order_relaxed);
  if (launcher > 0) kill(launcher, is_first ? kInterruptOfLaunched : kEndOfLauncher);
  errno = error;
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

/// What a new process does to become the launcher; it may call nothing that takes a lock. Whatever ends this
/// process, SIGKILL as well, ends the launcher. The launcher gets no interrupt but by this process: on its
/// own it would kill the processes before they have written their checkpoints.
[[noreturn]] void become_launcher(const char* file, const ExecWords& words, pid_t parent, int output,
                                  int errors) {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigaddset(&interrupts, SIGTERM);
  sigprocmask(SIG_BLOCK, &interrupts, nullptr);
  if (prctl(PR_SET_PDEATHSIG, kEndOfLauncher) == 0 && getppid() == parent &&
      dup2(output, STDERR_FILENO) >= 0) {
    execve(file, words.argv(), words.envp());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(errors, &error, sizeof error);
  _exit(127);
}

/// A pipe that no other program inherits.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw SystemError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }

  int in() const { return ends_[1]; }
  int out() const { return ends_[0]; }
  void close_in() { ::close(std::exchange(ends_[1], -1)); }
  int take_out() { return std::exchange(ends_[0], -1); }

 private:
  std::array<int, 2> ends_{};
};

Started start(const net::LaunchCommand& command) {
  const std::string& file = command.words[0];
  const ExecWords words(command);
  Pipe said;
  Pipe errors;
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) throw SystemError(fmt::format("cannot start '{}': {}", file, std::strerror(errno)));
  if (process == 0) become_launcher(file.c_str(), words, parent, said.in(), errors.in());
  said.close_in();
  errors.close_in();
  int error = 0;
  ssize_t length = 0;
  while ((length = ::read(errors.out(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (length > 0) {
    waitpid(process, nullptr, 0);
    throw SystemError(fmt::format("cannot start '{}': {}", file, std::strerror(error)));
  }
  return {process, said.take_out()};
}

/// While it lives, SIGINT and SIGTERM are passed on to the launcher.
class PassedInterrupts {
 public:
  explicit PassedInterrupts(pid_t launcher) {
    launcher_process.store(launcher, std::memory_order_relaxed);  // as in pass_interrupt_on
    struct sigaction action {};
    action.sa_handler = pass_interrupt_on;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &before_[0]);
    sigaction(SIGTERM, &action, &before_[1]);
  }
  PassedInterrupts(const PassedInterrupts&) = delete;
  PassedInterrupts& operator=(const PassedInterrupts&) = delete;
  ~PassedInterrupts() {
    sigaction(SIGINT, &before_[0], nullptr);
    sigaction(SIGTERM, &before_[1], nullptr);
    launcher_process.store(0, std::memory_order_relaxed);  // as in pass_interrupt_on
  }

 private:
  std::array<struct sigaction, 2> before_{};
};

struct Said {
  net::LauncherNotes notes;
  bool has_error = false;  ///< a process has written an error
  /// When the launcher must have ended.
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();
};

/// Once a process has said which other one it does not hear of, the launcher gets so long to end. One that
/// cannot reach a host may wait for it much longer.
constexpr std::chrono::seconds kLastOfLauncher(3);
/// So long after a second interrupt: MPICH's launcher does not always act on its signal.
constexpr std::chrono::seconds kLastOfInterrupted(1);

int interrupts() {
  return launch_interrupts.load(std::memory_order_relaxed);  // as in pass_interrupt_on
}

/// `end`, or sooner where a second interrupt has come.
std::chrono::steady_clock::time_point end_by_interrupts(std::chrono::steady_clock::time_point end) {
  return interrupts() < 2 ? end : std::min(end, std::chrono::steady_clock::now() + kLastOfInterrupted);
}

/// The lines of what is read, until it ends or the time is over.
class LinesOf {
 public:
  explicit LinesOf(int file) : file_(file) {}
  LinesOf(const LinesOf&) = delete;
  LinesOf& operator=(const LinesOf&) = delete;
  ~LinesOf() { ::close(file_); }

  /// Returns false where there are no more. The line has its end, unless it is the last one.
  bool next(std::string& line) {
    for (;;) {
      const std::size_t end = read_.find('\n');
      if (end != std::string::npos || (has_ended_ && !read_.empty())) {
        line = read_.substr(0, end == std::string::npos ? end : end + 1);
        read_.erase(0, line.size());
        return true;
      }
      if (has_ended_ || !read_more()) return false;
    }
  }
  void end_by(std::chrono::steady_clock::time_point time) { end_ = std::min(end_, time); }
  std::chrono::steady_clock::time_point end() const { return end_; }

 private:
  bool read_more() {
    using std::chrono::milliseconds;
    constexpr milliseconds kOneLook(100);
    for (; std::chrono::steady_clock::now() < end_; end_ = end_by_interrupts(end_)) {
      pollfd asked{file_, POLLIN, 0};
      if (::poll(&asked, 1, static_cast<int>(kOneLook.count())) <= 0) continue;
      std::array<char, 4096> bytes;
      const ssize_t count = ::read(file_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        has_ended_ = true;
      } else {
        read_.append(bytes.data(), static_cast<std::size_t>(count));
      }
      return true;
    }
    return false;
  }

  const int file_;
  std::string read_;
  bool has_ended_ = false;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::time_point::max();
};

/// Lets pass what the processes say.
Said pass_on(int standard_error) {
  Said said;
  LinesOf lines(standard_error);
  for (std::string line; lines.next(line);) {
    const std::string_view without_end = std::string_view(line).substr(0, line.find_last_not_of("\r\n") + 1);
    if (said.notes.take(without_end)) continue;
    said.has_error |= without_end.find("error: ") != std::string_view::npos;
    std::fwrite(line.data(), 1, line.size(), stderr);
    if (said.notes.has_reported()) lines.end_by(std::chrono::steady_clock::now() + kLastOfLauncher);
  }
  said.end = lines.end();
  return said;
}

bool has_exited(pid_t process) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

/// The processes that it has started, and those that these have started.
std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> all;
  std::error_code none;  // it may have ended meanwhile
  fs::directory_iterator thread(fmt::format("/proc/{}/task", process), none);
  for (; !none && thread != fs::directory_iterator(); thread.increment(none)) {
    std::ifstream children(thread->path() / "children");
    for (pid_t child = 0; children >> child;) {
      all.push_back(child);
      const std::vector<pid_t> below = descendants_of(child);
      all.insert(all.end(), below.begin(), below.end());
    }
  }
  return all;
}

/// Ends a launcher, and what it has started here and to reach hosts, where it has not ended by then.
void end_launcher(pid_t launcher, std::chrono::steady_clock::time_point end) {
  for (; !has_exited(launcher) && std::chrono::steady_clock::now() < end; end = end_by_interrupts(end))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (has_exited(launcher)) return;
  const std::vector<pid_t> started = descendants_of(launcher);
  kill(launcher, SIGKILL);
  for (const pid_t process : started) kill(process, SIGKILL);
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return kError;
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
  const OfferedOutput output;
  net::LaunchCommand command = net::launch_command(launcher.mpi, launcher.path, hosts, program,
                                                   net::name_of_this_machine(), geteuid() == 0);
  if (output.name()) command.environment.emplace_back(OfferedOutput::kVariable, *output.name());
  std::signal(SIGCHLD, SIG_DFL);  // who ignores it, which is handed down, cannot wait for a process
  const Started started = start(command);
  const PassedInterrupts passed(started.process);
  const Said said = pass_on(started.standard_error);
  if (said.notes.has_reported() || interrupts() > 0) end_launcher(started.process, said.end);
  const int status = wait_for(started.process);
  const bool is_interrupted = interrupts() > 0;
  // MPICH's launcher may have ended well where a process has said that it was interrupted.
  if (is_interrupted && (status != 0 || said.has_error)) return {.status = kInterrupted};
  if (status == 0) return {};
  return {.status = status == kUsage ? int{kUsage} : int{kError},
          .complaint = said.has_error ? "" : reason_of(said, status),
          .lost = said.notes.lost_process()};
}

int report(const LaunchEnd& end) {
  if (!end.complaint.empty()) complain(end.complaint);
  return end.status;
}

}  // namespace hiaton::cli
