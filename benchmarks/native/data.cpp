// The programs with data values as a C++ programmer writes them: nodes by new and delete, loops along lists.
// A cell that is taken apart is deleted and what is made is new, as in the other languages.
//
// Where the environment variable WORKERS is 2, the two halves of a binary tree and of a list that is sorted
// in place are for a thread each: what two processors make of the same work on the same memory.
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <numbers>
#include <utility>
#include <vector>

#include "timed_programs.h"

namespace {

struct Cell {
  int64_t head;
  Cell* tail;
};

/// Deletes the first cell of a list and gives the rest.
Cell* without_first(Cell* list) {
  Cell* rest = list->tail;
  delete list;
  return rest;
}

int64_t next(int64_t x) {
  return (x * 1103515245 + 12345) % 2147483648;
}

bool safe(int64_t column, const Cell* placed) {
  int64_t distance = 1;
  for (; placed != nullptr; placed = placed->tail, ++distance)
    if (placed->head == column || std::abs(placed->head - column) == distance) return false;
  return true;
}

int64_t solutions(int64_t n, int64_t left, Cell* placed) {
  if (left == 0) return 1;
  int64_t count = 0;
  for (int64_t column = 1; column <= n; ++column) {
    if (!safe(column, placed)) continue;
    Cell* longer = new Cell{column, placed};
    count += solutions(n, left - 1, longer);
    delete longer;
  }
  return count;
}

Cell* merge(Cell* a, Cell* b) {
  Cell* merged = nullptr;
  Cell** end = &merged;
  while (a != nullptr && b != nullptr) {
    Cell*& smaller = a->head <= b->head ? a : b;
    *end = new Cell{smaller->head, nullptr};
    end = &(*end)->tail;
    smaller = without_first(smaller);
  }
  *end = a != nullptr ? a : b;
  return merged;
}

Cell* sort(Cell* list) {
  if (list == nullptr || list->tail == nullptr) return list;
  Cell* a = nullptr;
  Cell* b = nullptr;
  while (list != nullptr) {
    b = new Cell{list->head, b};
    std::swap(a, b);
    list = without_first(list);
  }
  a = sort(a);
  return merge(a, sort(b));
}

int64_t mergesort(int64_t n) {
  Cell* list = nullptr;
  Cell** end = &list;
  for (int64_t x = 65539; n > 0; --n, x = next(x)) {
    *end = new Cell{x, nullptr};
    end = &(*end)->tail;
  }
  int64_t sum = 0;
  for (list = sort(list); list != nullptr; list = without_first(list))
    sum = (sum * 31 + list->head) % 1000003;
  return sum;
}

bool has_two_workers() {
  const char* workers = std::getenv("WORKERS");
  return workers != nullptr && std::atoi(workers) == 2;
}

/// The results of both, each by a thread of its own where there are two.
template <class First, class Second>
auto both(bool beside, First first, Second second) {
  std::future other = std::async(beside ? std::launch::async : std::launch::deferred, second);
  auto result = first();
  return std::pair(result, other.get());
}

/// A cell as Hiaton has it: with a header, and in its place for good.
struct FixedCell {
  int64_t count;
  int64_t head;
  FixedCell* tail;
};

FixedCell* merge_in_place(FixedCell* a, FixedCell* b) {
  FixedCell* merged = nullptr;
  FixedCell** end = &merged;
  while (a != nullptr && b != nullptr) {
    FixedCell*& smaller = a->head <= b->head ? a : b;
    *end = smaller;
    smaller->count = 1;
    end = &smaller->tail;
    smaller = smaller->tail;
  }
  *end = a != nullptr ? a : b;
  return merged;
}

FixedCell* sort_in_place(FixedCell* list, bool beside) {
  if (list == nullptr || list->tail == nullptr) return list;
  FixedCell* a = nullptr;
  FixedCell* b = nullptr;
  while (list != nullptr) {
    FixedCell* rest = std::exchange(list->tail, b);
    list->count = 1;
    b = std::exchange(a, list);  // deals to each in turn
    list = rest;
  }
  const auto [first, second] = both(
      beside, [&] { return sort_in_place(a, false); }, [&] { return sort_in_place(b, false); });
  return merge_in_place(first, second);
}

int64_t mergesort_in_place(int64_t n) {
  std::vector<FixedCell> cells(static_cast<std::size_t>(n));
  int64_t x = 65539;
  for (FixedCell& cell : cells) {
    cell = {1, x, &cell == &cells.back() ? nullptr : &cell + 1};
    x = next(x);
  }
  int64_t sum = 0;
  const FixedCell* sorted = sort_in_place(cells.data(), has_two_workers());
  for (; sorted != nullptr; sorted = sorted->tail) sum = (sum * 31 + sorted->head) % 1000003;
  return sum;
}

struct Tree {
  Tree* left;
  Tree* right;
};

/// A leaf is null.
Tree* build(int64_t depth) {
  return depth == 0 ? nullptr : new Tree{build(depth - 1), build(depth - 1)};
}

int64_t count(const Tree* tree) {
  return tree == nullptr ? 1 : count(tree->left) + count(tree->right) + 1;
}

void destroy(Tree* tree) {
  if (tree == nullptr) return;
  destroy(tree->left);
  destroy(tree->right);
  delete tree;
}

int64_t binary_trees(int64_t depth) {
  if (!has_two_workers() || depth == 0) {
    Tree* tree = build(depth);
    const int64_t nodes = count(tree);
    destroy(tree);
    return nodes;
  }
  const auto half = [&] { return build(depth - 1); };
  const std::pair<Tree*, Tree*> halves = both(true, half, half);
  const auto used_up = [](Tree* tree) {
    const int64_t nodes = count(tree);
    destroy(tree);
    return nodes;
  };
  const auto [first, second] = both(
      true, [&] { return used_up(halves.first); }, [&] { return used_up(halves.second); });
  return first + second + 1;
}

int64_t long_list(int64_t n) {
  Cell* list = nullptr;
  Cell** end = &list;
  for (int64_t i = 0; i < n; ++i) {
    *end = new Cell{i, nullptr};
    end = &(*end)->tail;
  }
  Cell* mapped = nullptr;
  for (end = &mapped; list != nullptr; list = without_first(list)) {
    *end = new Cell{2 * list->head + 1, nullptr};
    end = &(*end)->tail;
  }
  int64_t sum = 0;
  for (; mapped != nullptr; mapped = without_first(mapped)) sum += mapped->head;
  return sum;
}

using Numbers = std::vector<std::complex<double>>;

/// The roots of unity are those for a transform of the whole; this one needs every `stride`th.
Numbers transform(const Numbers& x, const Numbers& roots, std::size_t stride) {
  if (x.size() == 1) return x;
  const std::size_t half = x.size() / 2;
  Numbers even(half);
  Numbers odd(half);
  for (std::size_t i = 0; i < half; ++i) {
    even[i] = x[2 * i];
    odd[i] = x[2 * i + 1];
  }
  even = transform(even, roots, 2 * stride);
  odd = transform(odd, roots, 2 * stride);
  Numbers result(x.size());
  for (std::size_t i = 0; i < half; ++i) {
    const std::complex<double> turned = odd[i] * roots[i * stride];
    result[i] = even[i] + turned;
    result[i + half] = even[i] - turned;
  }
  return result;
}

std::string fft(int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  Numbers x(size);
  Numbers roots(size / 2);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<double>(i * 7919 % 1009);
  for (std::size_t i = 0; i < size / 2; ++i)
    roots[i] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  const Numbers y = transform(x, roots, 1);
  double squares = 0;
  for (const std::complex<double>& number : y) squares += std::norm(number);
  return benchmarks::show(y[size / 3].real()) + ", " + benchmarks::show(squares / static_cast<double>(n));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace benchmarks;
  return run_named(
      {
          {"list_queens",
           [](const Arguments& a) { return show(solutions(integer(a, 0), integer(a, 0), nullptr)); }},
          {"mergesort", [](const Arguments& a) { return show(mergesort(integer(a, 0))); }},
          {"mergesort_in_place", [](const Arguments& a) { return show(mergesort_in_place(integer(a, 0))); }},
          {"binary_trees", [](const Arguments& a) { return show(binary_trees(integer(a, 0))); }},
          {"long_list", [](const Arguments& a) { return show(long_list(integer(a, 0))); }},
          {"fft", [](const Arguments& a) { return fft(integer(a, 0)); }},
      },
      argc, argv);
}
