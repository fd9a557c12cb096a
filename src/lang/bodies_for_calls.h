// Bodies that are made where a call of their functions stands: each is read once.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "lang/body_checker.h"
#include "lang/parser.h"

namespace hiaton::lang {

class BodiesForCalls {
 public:
  /// `make_parser` is called where the first body is asked for.
  explicit BodiesForCalls(std::function<Parser()> make_parser) : make_parser_(std::move(make_parser)) {}

  const BodyChecker::ReadBody& of(const FunctionHead& head) {
    const auto known = bodies_.find(&head);
    if (known != bodies_.end()) return known->second;
    if (!parser_) parser_.emplace(make_parser_());
    const ExprId body = parser_->read_body(head);
    return bodies_.emplace(&head, BodyChecker::ReadBody{parser_->syntax(), body}).first->second;
  }

 private:
  std::function<Parser()> make_parser_;
  std::optional<Parser> parser_;
  std::unordered_map<const FunctionHead*, BodyChecker::ReadBody> bodies_;
};

}  // namespace hiaton::lang
