// TreeRNN in the three styles of the papers' tables.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "corpus.h"
#include "trainee.h"

namespace hiaton::benchmarks {

enum class Style : uint8_t {
  Recursion,  ///< models/treernn.hia
  Iteration,  ///< a loop over the sorted nodes
  Unrolling,  ///< a program for each tree, made when the tree comes and run once
};
/// Throws ProgramError where it is not one of them.
Style style_named(const std::string& name);

/// `root` is the directory of the project. All styles begin with the same parameters. Predictions hold one
/// tensor of probabilities for each node, in preorder. Throws ProgramError where a model cannot be read.
std::unique_ptr<Trainee> make_treernn(Style style, const std::filesystem::path& root, const Corpus& corpus,
                                      int64_t hidden);

}  // namespace hiaton::benchmarks
