#include "train/shuffle.h"

#include <algorithm>
#include <numeric>

namespace hiaton::train {
namespace {

void shuffle_in_place(std::span<uint32_t> numbers, Random& random) {
  for (std::size_t i = numbers.size(); i > 1; --i)
    std::swap(numbers[i - 1], numbers[random.below(static_cast<uint32_t>(i))]);
}

std::vector<uint32_t> numbers_below(std::size_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

}  // namespace

std::vector<uint32_t> shuffled(std::size_t count, std::size_t block, Random& random) {
  if (block == 0) {
    std::vector<uint32_t> order = numbers_below(count);
    shuffle_in_place(order, random);
    return order;
  }
  std::vector<uint32_t> blocks = numbers_below((count + block - 1) / block);
  shuffle_in_place(blocks, random);
  std::vector<uint32_t> order;
  order.reserve(count);
  for (std::size_t begin = 0; begin < blocks.size(); begin += kBlocksMixed) {
    const std::size_t first = order.size();
    const std::size_t end = std::min(begin + kBlocksMixed, blocks.size());
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t from = blocks[i] * block;
      for (std::size_t one = from; one < std::min(from + block, count); ++one)
        order.push_back(static_cast<uint32_t>(one));
    }
    shuffle_in_place(std::span(order).subspan(first), random);
  }
  return order;
}

}  // namespace hiaton::train
