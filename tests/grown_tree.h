// A program whose calls take and give data values and tensors: `grow` makes a tree, and `fold` sums it up.
#pragma once

#include <string>

namespace hiaton {

/// The program with this function `main`.
inline std::string grown_tree_with(const std::string& main) {
  return "data Tree = Leaf(x: f32[3], n: i64) | Node(left: Tree, right: Tree)\n"
         "fn grow(x: f32[3], n: i64, k: i64) -> Tree =\n"
         "  if n == 0 then Leaf(x, k)\n"
         "  else Node(grow(tanh(x) + 0.5, n - 1, 2 * k), grow(x * x, n - 1, 2 * k + 1))\n"
         "fn fold(t: Tree, scale: f32[3]) -> (f32[3], i64) =\n"
         "  match t\n"
         "    Leaf(x, n) -> (x * scale, n)\n"
         "    Node(left, right) ->\n"
         "      let (a, m) = fold(left, scale + 1.0)\n"
         "      let (b, n) = fold(right, scale)\n"
         "      (tanh(a + b), m * 3 + n)\n" +
         main;
}

}  // namespace hiaton
