// The parameters of a program as options of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "hiaton/engine.h"

namespace hiaton::cli {

/// Reads the arguments of `main`. Parameter `n` is the option `--n`; a parameter without a usable name, in a
/// graph made by hand, is `--arg0`, `--arg1`, ... by position.
class ProgramArguments {
 public:
  /// `command` is the one whose options come first: a parameter of the same name is given after `--`.
  ProgramArguments(const Program& program, std::string file, const CLI::App& command);

  /// A value is written as it is, or as @FILE or, from standard input, @-.
  /// Throws UsageError that lists everything that is missing, unknown or not of its type.
  std::vector<Value> parse(const std::vector<std::string>& words);

  /// The lines of the help that list the parameters with their types.
  std::string help() const;

 private:
  struct Argument {
    std::string option;  ///< "--n"
    Type type;
    bool after_dashes;  ///< the command has an option of the same name
    std::string text;
  };

  void collect(std::vector<std::string> words);
  Value value_of(const Argument& argument);
  std::string unknown(const std::string& word) const;
  std::string show_missing(const Argument& argument) const;
  std::string signature() const;

  std::string file_;
  std::string command_;
  const CLI::App& of_command_;
  std::vector<Argument> arguments_;
  std::string reads_input_;  ///< the option whose value is standard input
  CLI::App options_;
};

}  // namespace hiaton::cli
