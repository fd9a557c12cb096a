// What the commands have in common: where text goes, and how a command ends.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace hiaton::cli {

enum ExitStatus : int { kSuccess = 0, kError = 1, kUsage = 2, kInterrupted = 130 };

/// The command line itself is wrong.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something outside of the program failed: a file, a pipe, another command.
class SystemError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes all of `text` to standard output, at once. Throws SystemError where that fails.
void write_to_stdout(std::string_view text);

/// Writes `text` to the file, or to standard output where `path` is empty. Throws SystemError.
void write_to(const std::string& path, std::string_view text);

/// Throws SystemError where such a file surely cannot be written: to be called before the work whose result
/// goes there.
void require_writable(const std::string& path);

/// Reports the exception that is being handled. Returns the exit status that goes with it.
int report_current_exception();

/// Writes to standard error what is no error of this command.
void note(const std::string& message);

/// Writes an error message to standard error, with "error: " before it where it does not say so itself.
void complain(const std::string& message);

}  // namespace hiaton::cli
