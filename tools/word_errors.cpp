#include "word_errors.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "lang/suggest.h"

namespace hiaton::cli {
namespace {

std::string explain_unknown(const CLI::App& app) {
  const std::string word = app.remaining(true).front();
  const std::vector<CLI::App*> commands = app.get_subcommands();
  std::vector<std::string> known = option_names(commands.empty() ? app : *commands[0]);
  if (!commands.empty()) {
    return fmt::format(
        "expected {}, found '{}'{}",
        word.starts_with('-') ? fmt::format("an option of '{}'", command_read(app)) : "nothing more", word,
        suggestion_for(word, known));
  }
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (std::filesystem::path(word).extension() == ".hia")
    return fmt::format("expected a command, found the file '{0}'; did you mean 'hiaton run {0}'?", word);
  return fmt::format("expected a command, found '{}'{}", word, suggestion_for(word, known));
}

/// What stands before and behind a part of a text, if it is there.
struct Halves {
  std::string before;
  std::string behind;
};
std::optional<Halves> split(const std::string& text, std::string_view at) {
  const std::size_t place = text.find(at);
  if (place == std::string::npos) return std::nullopt;
  return Halves{text.substr(0, place), text.substr(place + at.size())};
}

}  // namespace

std::string command_read(const CLI::App& app) {
  std::string name = "hiaton";
  for (const CLI::App* parsed : app.get_subcommands()) name += " " + parsed->get_name();
  return name;
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return explain_unknown(app);
  if (const auto conversion = split(text, "Could not convert: ")) {
    if (const auto option = split(conversion->behind, " = "))
      return fmt::format("{}: expected a number, found '{}'", option->before, option->behind);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const auto several = split(text, ": At Most 1 required but received "))
      return fmt::format("{}: expected one value, found {}", several->before, several->behind);
    if (const auto none = split(text, ": ")) return none->before + ": expected a value";
  }
  if (const auto missing = split(text, " is required")) return fmt::format("expected a {}", missing->before);
  return text;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string suggestion_for(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::string_view kLikeAnyLetter = "--n";
  const std::string_view name = std::string_view(word).substr(0, word.find('='));
  if (name.starts_with("--") && name.size() <= kLikeAnyLetter.size()) return "";
  lang::Suggestion suggestion(name);
  for (const std::string& near : known) suggestion.offer(near);
  return suggestion.text();
}

}  // namespace hiaton::cli
