// Standard output of a command that starts processes on several hosts, handed to the one that writes the
// results. A launcher passes on what processes write in small pieces, which takes a core for itself where
// results are large.
#pragma once

#include <optional>
#include <string>
#include <thread>

namespace hiaton::cli {

/// Offers standard output of this process to processes of the same user on this machine, as long as it lives.
class OfferedOutput {
 public:
  /// Where the system has no socket for it, nothing is offered.
  OfferedOutput();
  OfferedOutput(const OfferedOutput&) = delete;
  OfferedOutput& operator=(const OfferedOutput&) = delete;
  ~OfferedOutput();

  /// The variable of the environment by which take_offered_output() finds it.
  static constexpr const char* kVariable = "HIATON_OUTPUT";
  /// What the variable is to be set to; nothing where nothing is offered.
  const std::optional<std::string>& name() const { return name_; }

 private:
  void serve() const;

  int socket_ = -1;
  std::optional<std::string> name_;
  std::thread server_;
};

/// Makes the output that the environment tells of the standard output of this process. Where none is offered,
/// or on another machine, all stays as it is.
void take_offered_output();

}  // namespace hiaton::cli
