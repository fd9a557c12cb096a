// Collects the findings of all stages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "ir/names.h"

namespace hiaton::lang {

class Diagnostics {
 public:
  /// Adds a message. Only the begin and the end of a long one are kept: names and types have any length.
  void add(Span span, std::string message) {
    message += context_;
    for (const auto& [name, text] : shown_as_) replace_name(message, name, text);
    if (message.size() > 2 * kShown) message.replace(kShown, message.size() - 2 * kShown, " ... ");
    found_.push_back({span, std::move(message)});
  }
  /// Stands behind every message from here on.
  void set_context(std::string context) { context_ = std::move(context); }
  /// Messages name the type `name` by its text in programs.
  void show_as(std::string name, std::string text) {
    for (const auto& [known, shown] : shown_as_) replace_name(text, known, shown);
    shown_as_.emplace_back(std::move(name), std::move(text));
  }
  bool empty() const { return found_.empty(); }
  std::size_t count() const { return found_.size(); }
  /// Keeps only the first `count` of them.
  void forget_after(std::size_t count) {
    if (count < found_.size()) forget(count, found_.size());
  }
  /// Drops the diagnostics from `begin` up to, but not including, `end`.
  void forget(std::size_t begin, std::size_t end) {
    const auto first = found_.begin();
    found_.erase(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
  }
  /// A part of the program, such as the body of a function: what is wrong elsewhere does not count in it.
  class Part {
   public:
    explicit Part(Diagnostics& of) : of_(of), around_(std::exchange(of.part_, of.found_.size())) {}
    ~Part() { of_.part_ = around_; }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Diagnostics& of_;
    std::size_t around_;
  };
  /// Whether nothing was found in the innermost part.
  bool is_clear() const { return found_.size() == part_; }
  void forget_part() { forget_after(part_); }
  /// Looking for similar names is only worth its time for findings that will be shown.
  bool wants_suggestions() const { return found_.size() < kMaxShownErrors; }
  std::vector<Diagnostic> take() { return std::move(found_); }
  /// All but the first `count` of them, which alone it keeps.
  std::vector<Diagnostic> take_after(std::size_t count) {
    std::vector<Diagnostic> taken(found_.begin() + static_cast<std::ptrdiff_t>(count), found_.end());
    forget_after(count);
    return taken;
  }

 private:
  static constexpr std::size_t kShown = 500;
  static void replace_name(std::string& text, const std::string& name, const std::string& by);

  std::vector<Diagnostic> found_;
  std::size_t part_ = 0;  ///< how many there were before the innermost part
  std::string context_;
  std::vector<std::pair<std::string, std::string>> shown_as_;
};

inline void Diagnostics::replace_name(std::string& text, const std::string& name, const std::string& by) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    const std::size_t end = at + name.size();
    const bool is_longer = end < text.size() && ir::continues_name(text[end]);
    if (!is_longer) text.replace(at, name.size(), by);
    at += is_longer ? name.size() : by.size();
  }
}

}  // namespace hiaton::lang
