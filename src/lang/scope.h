// The values that names stand for, at the place that is being checked.
#pragma once

#include <vector>

#include "hiaton/builder.h"
#include "lang/token.h"

namespace hiaton::lang {

/// A stack of bindings; the newest binding of a name hides older ones. Looking up is one index.
class Scope {
 public:
  explicit Scope(std::size_t symbol_count) : newest_(symbol_count, kNone) {}

  std::size_t size() const { return bindings_.size(); }

  void bind(Symbol name, Var value) {
    bindings_.push_back({name, newest_[name], value, false});
    newest_[name] = static_cast<uint32_t>(bindings_.size() - 1);
  }

  /// From here on the name stands for nothing.
  void hide(Symbol name) {
    if (find(name) == nullptr) return;
    bind(name, Var());
    bindings_.back().hides = true;
  }

  /// nullptr where the name stands for nothing.
  const Var* find(Symbol name) const {
    if (newest_[name] == kNone || bindings_[newest_[name]].hides) return nullptr;
    return &bindings_[newest_[name]].value;
  }

  /// Forgets the newest bindings until `size` are left.
  void shrink(std::size_t size) {
    while (bindings_.size() > size) {
      newest_[bindings_.back().name] = bindings_.back().hidden;
      bindings_.pop_back();
    }
  }

  template <class Visit>
  void for_each_name(Visit visit) const {
    for (const Binding& binding : bindings_) {
      if (find(binding.name) != nullptr) visit(binding.name);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Binding {
    Symbol name;
    uint32_t hidden;  ///< the binding of the same name below, or kNone
    Var value;
    bool hides = false;  ///< there is no value
  };

  std::vector<uint32_t> newest_;  ///< by symbol
  std::vector<Binding> bindings_;
};

}  // namespace hiaton::lang
