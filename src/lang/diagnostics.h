// Collects the findings of all stages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton::lang {

class Diagnostics {
 public:
  /// Adds a message. Only the begin and the end of a long one are kept: names and types have any length.
  void add(Span span, std::string message) {
    message += context_;
    if (message.size() > 2 * kShown) message.replace(kShown, message.size() - 2 * kShown, " ... ");
    found_.push_back({span, std::move(message)});
  }
  /// Stands behind every message from here on.
  void set_context(std::string context) { context_ = std::move(context); }
  bool empty() const { return found_.empty(); }
  std::size_t count() const { return found_.size(); }
  /// Looking for similar names is only worth its time for findings that will be shown.
  bool wants_suggestions() const { return found_.size() < kMaxShownErrors; }
  std::vector<Diagnostic> take() { return std::move(found_); }

 private:
  static constexpr std::size_t kShown = 500;
  std::vector<Diagnostic> found_;
  std::string context_;
};

}  // namespace hiaton::lang
