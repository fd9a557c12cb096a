#include "program_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "hiaton/error.h"
#include "output.h"
#include "program_file.h"
#include "word_errors.h"

namespace hiaton::cli {
namespace {

bool is_identifier(const std::string& name) {
  const auto fits = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) || c == '_'); };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

/// One option name a parameter, all different.
std::vector<std::string> parameter_options(const std::vector<EntryParameter>& parameters) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::string name = parameters[i].name;
    if (!is_identifier(name) || !taken.insert(name).second) name = fmt::format("arg{}", i);
    taken.insert(name);
    names.push_back("--" + name);
  }
  return names;
}

bool has_option(const CLI::App& command, const std::string& name) {
  return command.get_option_no_throw(name) != nullptr;
}

}  // namespace

ProgramArguments::ProgramArguments(const Program& program, std::string file, const CLI::App& command)
    : file_(std::move(file)), command_("hiaton " + command.get_name()), of_command_(command) {
  if (file_ == kStandardInput) reads_input_ = "the program";
  const std::vector<std::string> names = parameter_options(program.parameters());
  for (std::size_t i = 0; i < names.size(); ++i) {
    arguments_.push_back({names[i], program.parameters()[i].type, has_option(command, names[i]), ""});
  }
  options_.set_help_flag();
  options_.allow_extras();
  for (Argument& argument : arguments_) {
    options_.add_option(argument.option, argument.text)->type_name(to_string(argument.type));
  }
}

std::vector<Value> ProgramArguments::parse(const std::vector<std::string>& words) {
  collect(words);
  std::vector<Value> values;
  std::vector<std::string> findings;
  for (const std::string& word : options_.remaining()) {
    findings.push_back(unknown(word));
  }
  for (const Argument& argument : arguments_) {
    if (options_.count(argument.option) == 0) {
      findings.push_back(show_missing(argument));
      continue;
    }
    try {
      values.push_back(value_of(argument));
    } catch (const ProgramError& error) {
      findings.push_back(fmt::format("{}: {}", argument.option, error.what()));
    }
  }
  if (!findings.empty()) {
    throw UsageError(
        fmt::format("{}\n  the program is {} in {}", fmt::join(findings, "\n  "), signature(), file_));
  }
  return values;
}

void ProgramArguments::collect(std::vector<std::string> words) {
  // What stands behind '=' is the value, also where that is nothing.
  for (std::size_t i = words.size(); i-- > 0;) {
    const bool is_empty = std::ranges::any_of(
        arguments_, [&](const Argument& argument) { return words[i] == argument.option + "="; });
    if (!is_empty) continue;
    words[i].pop_back();
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, "");
  }
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes a vector of words from its end
    options_.parse(words);
  } catch (const CLI::ParseError& error) {
    throw UsageError(
        fmt::format("{}\n  the program is {} in {}", explain(options_, error), signature(), file_));
  }
}

Value ProgramArguments::value_of(const Argument& argument) {
  // A string as a whole needs no quotes.
  const auto read = [&](std::string_view text) {
    return is_string(argument.type) ? Value(text) : parse_value(argument.type, text);
  };
  if (!argument.text.starts_with('@')) return read(argument.text);
  if (argument.text.starts_with("@@")) return read(std::string_view(argument.text).substr(1));
  std::string file = argument.text.substr(1);
  if (file == "-") {
    if (!reads_input_.empty())
      throw ProgramError(fmt::format("expected a file, found standard input, which {} reads", reads_input_));
    reads_input_ = argument.option;
    file = "/dev/stdin";
  }
  const std::shared_ptr<const Source> source = read_source(file);
  std::string_view text = source->text();
  for (const char end : {'\n', '\r'}) {
    if (text.ends_with(end)) text.remove_suffix(1);
  }
  try {
    return read(text);
  } catch (const ProgramError& error) {
    throw ProgramError(fmt::format("{}: {}", file, error.what()));
  }
}

/// What is wrong with a word behind the FILE that is no option of the command and names no parameter.
std::string ProgramArguments::unknown(const std::string& word) const {
  std::vector<std::string> known = option_names(of_command_);
  for (const Argument& argument : arguments_) known.push_back(argument.option);
  if (std::filesystem::path(word).extension() == ".hia")
    return fmt::format("expected one FILE, found '{}' beside '{}'", word, file_);
  const std::string bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  const std::string name = bare.substr(0, bare.find('='));
  const auto is_named = [&](const Argument& argument) { return argument.option == "--" + name; };
  if (std::ranges::any_of(arguments_, is_named))
    return fmt::format("expected an option, found '{}'; did you mean '--{}'?", word, bare);
  if (!word.starts_with('-') && !arguments_.empty()) {
    return fmt::format("found the value '{0}' without the name of a parameter; it is written {1}={0}", word,
                       arguments_[0].option);
  }
  return fmt::format("'{}' is neither an option of '{}' nor a parameter of the program{}", word, command_,
                     suggestion_for(word, known));
}

std::string ProgramArguments::show_missing(const Argument& argument) const {
  const std::string missing =
      fmt::format("the value of '{}' is missing; it is written", argument.option.substr(2));
  const std::string written = fmt::format("{}=VALUE, of type {}", argument.option, to_string(argument.type));
  if (!argument.after_dashes) return fmt::format("{} {}", missing, written);
  return fmt::format("{0} after --, as '{2}' has an option of this name: {2} {1} -- {3}", missing, file_,
                     command_, written);
}

std::string ProgramArguments::signature() const {
  std::vector<std::string> params;
  for (const Argument& argument : arguments_) {
    params.push_back(fmt::format("{}: {}", argument.option.substr(2), to_string(argument.type)));
  }
  return fmt::format("main({})", fmt::join(params, ", "));
}

std::string ProgramArguments::help() const {
  if (arguments_.empty()) return fmt::format("main in {} has no parameters.\n", file_);
  std::string text = fmt::format("Parameters of main in {}:\n", file_);
  for (const Argument& argument : arguments_) {
    const std::string hint = argument.after_dashes ? "  (write it after --)" : "";
    text += fmt::format("  {}={}{}\n", argument.option, to_string(argument.type), hint);
  }
  return text;
}

}  // namespace hiaton::cli
