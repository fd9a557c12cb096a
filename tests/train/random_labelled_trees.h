// Binary trees drawn at random, with labels 0 and 1 and the words w0 to w39.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "train/read_trees.h"

namespace hiaton::train {

inline std::vector<Tree> random_labelled_trees(std::size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    std::string tree = "(1 w0)";
    for (uint32_t more = random() % 5; more > 0; --more)
      tree = "(" + std::to_string(random() % 2) + " " + tree + " (0 w" + std::to_string(random() % 40) + "))";
    text += tree + "\n";
  }
  return read_trees(std::make_shared<const Source>("trees.txt", text)).trees;
}

}  // namespace hiaton::train
