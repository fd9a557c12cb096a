// Several processes that run one program together.
//
//   hiaton::net::Processes processes = hiaton::net::join();
//   program.run({Value(int64_t{40})}, {.processes = processes.transport()});
//
// Every process runs the same: the same programs with the same arguments and options, in the same order.
// Process 0 gets the results.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace hiaton::net {

class Transport;

struct JoinOptions {
  /// What must be equal in all processes, or none of them starts: the text of the program, for instance.
  std::string program{};
  /// A process that says nothing for so long is lost.
  std::chrono::nanoseconds longest_silence = std::chrono::seconds(10);
};

/// All processes, as one of them sees them. Only one thread may use it.
class Processes {
 public:
  Processes(Processes&& other) noexcept;
  Processes& operator=(Processes&&) = delete;
  /// Ends as end() does. Where that fails, or an exception goes through, all processes end at once; what
  /// another process has failed with is written to the standard error stream by one of them, unless it was
  /// caught before.
  ~Processes();

  int self() const;
  int size() const;
  /// Whether this is the process that gets results.
  bool is_first() const { return self() == 0; }
  /// The name of the machine that a process runs on.
  std::string host(int process) const;
  /// For RunOptions::processes. Null where this process is alone.
  Transport* transport() const;
  /// Waits until the other processes are here, too. Nothing can be run in several processes after it. Throws
  /// Error where one of them has failed or is lost.
  void end();
  /// Ends all processes at once, where this one has failed and has said why.
  void abandon();

 private:
  struct Parts;
  explicit Processes(std::unique_ptr<Parts> parts);
  friend Processes join(const JoinOptions& options);
  friend void run_in_threads(int count, const std::function<void(Processes&)>& act,
                             const JoinOptions& options);

  std::unique_ptr<Parts> parts_;  ///< null where this process is alone
};

/// Joins the processes that a launcher (mpirun, mpiexec, srun) has started with this one, over the plug-in
/// for its MPI. Without a launcher, this process is alone. Once in a process. Throws ProgramError where the
/// plug-in is missing or does not fit, and Error where processes differ.
Processes join(const JoinOptions& options = {});

/// Acts in so many processes that are threads of this one: to try, and to test. The calling thread is process
/// 0; what it throws ends the others. Throws what it throws, and Error where another one fails.
void run_in_threads(int count, const std::function<void(Processes&)>& act, const JoinOptions& options = {});

}  // namespace hiaton::net
#pragma GCC visibility pop
