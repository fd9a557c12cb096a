// Pieces of program text: literals, declarations, names.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hiaton/ir.h"

namespace hiaton::ir {

/// "Node", "Cons[i64]": variants of the built-in list say of which.
std::string variant_name(const Type& data, std::size_t variant);
/// A constant, with its type where text would take it for another.
std::string literal(const Value& value, const Type& type);
/// In quotes, as the lexer reads strings.
std::string quoted(std::string_view content);
/// "data Tree = Leaf(word: i64) | ...", a line.
std::string declaration(const Type& data);
/// "param W: f32[2, 3]", a line.
std::string declaration(const Parameter& parameter);

/// "grad(f, wrt=(0, W))"
std::string gradient_text(const Module& module, const GradientRequest& request);

/// The names of the values that can be seen, and which name a new one may take.
class Names {
 public:
  explicit Names(const std::unordered_set<std::string_view>& reserved) : reserved_(reserved) {}

  std::size_t size() const { return in_use_.size(); }

  /// The wanted name where it may stand for one more value, else v1, v2, ...
  std::string choose(const std::string& wanted) {
    if (is_free(wanted)) return wanted;
    std::string name;
    do {
      name = fmt::format("v{}", ++numbered_);
    } while (!is_free(name));
    return name;
  }

  void use(const std::string& name) {
    in_use_.push_back(name);
    taken_.insert(name);
  }

  bool is_taken(const std::string& name) const { return taken_.contains(name); }

  void forget_down_to(std::size_t size) {
    for (; in_use_.size() > size; in_use_.pop_back()) taken_.erase(in_use_.back());
  }

 private:
  bool is_free(const std::string& name) const;

  const std::unordered_set<std::string_view>&
      reserved_;  ///< names of functions, variants, learned parameters
  std::vector<std::string> in_use_;
  std::unordered_set<std::string> taken_;
  std::size_t numbered_ = 0;
};

}  // namespace hiaton::ir
