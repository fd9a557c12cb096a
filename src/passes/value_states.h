// What `suspend` knows of the values of a function while it makes bodies from its nodes, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hiaton/builder.h"
#include "hiaton/ir.h"

namespace hiaton::passes {

enum class State : uint8_t { Unknown, Computed, Suspended };

/// By value: how the body that is being made has it. Each change is noted, so that what is known inside a
/// branch, or inside a body, is forgotten in as many steps as it took to learn it.
class ValueStates {
 public:
  explicit ValueStates(std::size_t values) : known_(values) {}

  State state(ir::ValueId value) const { return known_[value.index()].state; }
  const Var& var(ir::ValueId value) const { return known_[value.index()].var; }
  void set(ir::ValueId value, State state) { change(value).state = state; }
  void set(ir::ValueId value, Var var) { change(value).var = var; }

  /// How many changes there are.
  std::size_t changes() const { return changes_.size(); }
  /// Takes all changes back but the first ones.
  void undo_to(std::size_t changes) {
    for (; changes_.size() > changes; changes_.pop_back()) {
      const auto& [value, before] = changes_.back();
      known_[value.index()] = before;
    }
  }

 private:
  struct Known {
    State state = State::Unknown;
    Var var{};
  };

  Known& change(ir::ValueId value) {
    Known& known = known_[value.index()];
    changes_.emplace_back(value, known);
    return known;
  }

  std::vector<Known> known_;
  std::vector<std::pair<ir::ValueId, Known>> changes_;
};

}  // namespace hiaton::passes
