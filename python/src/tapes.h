// Tapes: what eager operations did, for their gradients.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tensors.h"

namespace hiaton::python {

/// Something that has gradients: an operation on operands of some types, or the gradients of such a thing.
class Rule;
class OpenGradient;

/// What is on the way of a tape: the operands and the results of an operation or of a rule.
struct Application {
  const OpDef* op;  ///< null: `rule` is set
  std::span<const int64_t> attributes;
  std::shared_ptr<Rule> rule;
  std::span<const Value> operands;
  std::span<const uint64_t> marks;       ///< the marks of the operands
  std::shared_ptr<OpenGradient> open{};  ///< gives the gradients once; null: the rule does
};

/// What eager operations on watched tensors do, in order.
class Tape {
 public:
  /// `watches_parameters`: parameters of modules need not be watched one by one.
  explicit Tape(bool watches_parameters) : watches_parameters_(watches_parameters) {}

  void watch(EagerTensor& tensor);
  bool knows(uint64_t mark) const;
  /// Keeps the application where it is one of watched tensors, and gives marks to its results.
  void add(const Application& application, std::span<EagerTensor> results);
  void clear();
  /// The gradients of the sum of the targets by the sources; nothing where no way leads from one to a target.
  /// `cotangents`: by target, how much each of its elements counts.
  std::vector<std::optional<EagerTensor>> gradient(std::span<const EagerTensor> targets,
                                                   std::span<const EagerTensor> sources,
                                                   std::span<const EagerTensor> cotangents) const;

 private:
  struct Entry {
    const OpDef* op;
    Attributes attributes;
    std::shared_ptr<Rule> rule;
    std::vector<EagerTensor> operands;
    SmallVector<uint64_t, 1> results;
    std::shared_ptr<OpenGradient> open;
  };
  using Sums = std::unordered_map<uint64_t, EagerTensor>;
  /// Adds the gradients of the operands, where results of the entry have some.
  void pull_back(const Entry& entry, Sums& sums) const;

  bool watches_parameters_;
  std::unordered_set<uint64_t> known_;
  std::deque<Entry> entries_;  ///< one stays where it is while more are added
};

/// Shows what somebody computed by a rule to the tapes of this thread, which give marks to its results.
void show_to_tapes(const Application& application, std::span<EagerTensor> results);

/// The operands that hold floats and that a tape of this thread knows, by number. `marks`: of the operands.
std::vector<std::size_t> operands_known_to_tapes(std::span<const Value> operands,
                                                 std::span<const uint64_t> marks);

void bind_tapes(nb::module_& m);

}  // namespace hiaton::python
