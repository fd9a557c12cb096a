// The three kinds of error: the user's (bad program or input), the run's, and ours. Where memory ends, a run
// throws RunError with Fault::OutOfMemory, and everything else (or a run that has none left for the message)
// std::bad_alloc; nothing is leaked, and programs and models stay usable.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hiaton/source.h"

#pragma GCC visibility push(default)
namespace hiaton {

/// The base of everything Hiaton throws. `what()` is a complete message for a person.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One finding about a program: where, and a message that says what was expected and what was found.
struct Diagnostic {
  Span span;
  std::string message;
};

/// Shows a diagnostic as `file:line:column: error: message`, then the line with a caret under the span.
std::string render(const Diagnostic& diagnostic, const Source& source);

/// The program, graph or an argument is wrong. Carries every finding of one go, in order of position.
class ProgramError : public Error {
 public:
  explicit ProgramError(const std::string& message) : Error(message) {}
  /// A program text with findings; `what()` shows the first `shown` of them and says how many there are more.
  ProgramError(std::shared_ptr<const Source> source, std::vector<Diagnostic> diagnostics,
               std::size_t shown = std::numeric_limits<std::size_t>::max());

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::shared_ptr<const Source> source_;
  std::vector<Diagnostic> diagnostics_;
};

/// Why a run stopped before its results were there.
enum class Fault : uint8_t {
  None,
  DivisionByZero,
  Overflow,     ///< an integer result does not fit, under OverflowMode::Trap
  InvalidCast,  ///< a float that no integer of the target type can hold
  Shape,        ///< dimensions that only the run knows do not go together
  Index,        ///< a row or class number out of range
  Rate,         ///< a rate of dropout outside of 0 to 1
  Size,         ///< a tensor is asked for that has less than nothing along a dimension, or too much
  NoRows,       ///< only a row could tell the size of what is computed from it
  Assumption,   ///< a condition that the program takes for granted does not hold
  MaxFrames,    ///< budget: too many live frames
  MaxBytes,     ///< budget: frames hold too many bytes
  Timeout,      ///< budget: wall time
  Interrupted,  ///< cancelled from outside (Ctrl-C)
  NoResult,     ///< every token was consumed and a result never came (graphs built by hand)
  OutOfMemory,  ///< there is no more memory, or no thread for a worker
};

/// Whether an operation failed on the values or shapes that it was given.
constexpr bool is_operation_fault(Fault fault) {
  switch (fault) {
    case Fault::DivisionByZero:
    case Fault::Overflow:
    case Fault::InvalidCast:
    case Fault::Shape:
    case Fault::Index:
    case Fault::Rate:
    case Fault::Size:
    case Fault::NoRows:
    case Fault::Assumption:
      return true;
    case Fault::None:
    case Fault::MaxFrames:
    case Fault::MaxBytes:
    case Fault::Timeout:
    case Fault::Interrupted:
    case Fault::NoResult:
    case Fault::OutOfMemory:
      return false;
  }
  return false;
}

/// Whether the run needed more frames, bytes, memory or time than it may have, or was cancelled.
constexpr bool is_budget_fault(Fault fault) {
  return fault != Fault::None && fault != Fault::NoResult && !is_operation_fault(fault);
}

/// A short name, for people and for JSON: "division by zero", "frame budget", ...
std::string_view name_of(Fault fault);

/// One call in the chain that led to a fault, read off the tag. Innermost first.
struct CallRecord {
  std::string function;
  std::vector<std::string> arguments;  ///< "n = 3"
  std::string call_place;              ///< "file:line:column" of the call site; empty for main
  std::string call_line;               ///< the text of that line, trimmed; empty where there is no text
  /// The function that was called there, where it has gone on in this one by tail calls; else empty.
  std::string tail_called_from{};
};

/// An operation failed or a budget ended the run. `what()` includes the chain of calls.
class RunError : public Error {
 public:
  /// `message` says operation, values and place; `chain_length` counts also the calls that are left out of
  /// `chain` (long chains keep only their first and last calls). `assumption`: of Fault::Assumption, its id.
  RunError(Fault fault, std::string message, std::vector<CallRecord> chain = {}, uint64_t chain_length = 0,
           int64_t assumption = 0);
  /// The same failure with another message and chain.
  RunError(const RunError& error, std::string message, std::vector<CallRecord> chain, uint64_t chain_length)
      : RunError(error.fault(), std::move(message), std::move(chain), chain_length, error.assumption()) {}

  Fault fault() const { return fault_; }
  /// After Fault::Assumption, the `id` of the operation `assume` whose condition does not hold.
  int64_t assumption() const { return assumption_; }
  const std::string& message() const { return message_; }
  const std::vector<CallRecord>& chain() const { return chain_; }
  uint64_t chain_length() const { return chain_length_; }

 private:
  Fault fault_;
  int64_t assumption_;
  std::string message_;
  std::vector<CallRecord> chain_;
  uint64_t chain_length_;
};

/// An invariant of Hiaton itself broke: a defect to report.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace hiaton
#pragma GCC visibility pop
