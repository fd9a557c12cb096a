// In which phase of a function that is to be split each of its values is there, and each of its nodes runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// In which phase each parameter of a function comes, and each of its results goes.
struct Phasing {
  std::vector<uint32_t> params;
  std::vector<uint32_t> results;

  uint32_t count() const;
  std::vector<std::size_t> params_of(uint32_t phase) const;
  std::vector<std::size_t> results_of(uint32_t phase) const;
};

/// By function; none where it has one phase.
using Phasings = std::vector<std::optional<Phasing>>;

/// Sets of numbers below 64, such as phases, as bits.
using NumberSet = uint64_t;

/// What each value of a function depends on. `params`: what its parameters depend on. `of_call`: what a
/// result of a call depends on, by what the values before it depend on.
using OfCall =
    std::function<NumberSet(const ir::Node& call, std::size_t result, const std::vector<NumberSet>& values)>;
std::vector<NumberSet> dependences(const ir::Function& function, std::span<const NumberSet> params,
                                   const OfCall& of_call);

/// What any of these depends on.
NumberSet any_of(std::span<const ir::ValueId> values, const std::vector<NumberSet>& dependences);

/// The same of those arguments of a call without which the phase of the callee cannot begin.
NumberSet needed_by_phase(const Phasing& callee, uint32_t phase, const ir::Node& call,
                          const std::vector<NumberSet>& dependences);

/// In which phase of the caller each phase of a call runs. `values`: the phase of each value of the caller.
std::vector<uint32_t> phases_of_call(const Phasing& callee, const ir::Node& call,
                                     const std::vector<uint32_t>& values);

/// In which phases something of each node of a function runs, by node. Those that have only one run as a
/// whole in it: a loop always; a branch, unless its parts run in several. `values`: the phase of each value.
/// `phasings`: of the functions that are called.
std::vector<NumberSet> phases_of_nodes(const ir::Function& function, const std::vector<uint32_t>& values,
                                       const Phasings& phasings);

}  // namespace hiaton::passes
