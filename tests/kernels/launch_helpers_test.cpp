// Large launches that idle threads help with: the same bits as on one thread.
#include "kernels/launch_helpers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/convolution.h"
#include "kernels/gemm.h"
#include "kernels/idle_pool.h"
#include "kernels/strided.h"

namespace hiaton::kernels {
namespace {

template <class T>
std::vector<T> numbers(int64_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> distribution(-1, 1);
  std::vector<T> numbers(static_cast<std::size_t>(size));
  for (T& number : numbers) number = distribution(random);
  return numbers;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// What `compute` gives with helpers is what it gives without, and they are asked.
template <class Compute>
void expect_same_bits(const Compute& compute) {
  const auto alone = compute();
  for (const int threads : {2, 3, 8}) {
    IdlePool pool(threads);
    const HelpedLaunches helped(&pool);
    EXPECT_TRUE(same_bits(compute(), alone)) << threads << " threads";
    EXPECT_GT(pool.launches, 0);
  }
}

struct Product {
  int64_t m, n, k;
};

template <class T>
void expect_same_products() {
  for (const Product& s :
       {Product{150, 170, 190}, Product{3, 1500, 700}, Product{2000, 17, 100}, Product{257, 9, 1000}}) {
    const std::vector<T> a = numbers<T>(s.m * s.k, 1), b = numbers<T>(s.k * s.n, 2),
                         c = numbers<T>(s.m * s.n, 3);
    for (const Transpose transpose_a : {Transpose::No, Transpose::Yes}) {
      for (const Transpose transpose_b : {Transpose::No, Transpose::Yes}) {
        for (const T beta : {T{0}, T{1}}) {
          expect_same_bits([&] {
            std::vector<T> out = c;
            gemm<T>(transpose_a, transpose_b, s.m, s.n, s.k, T{1}, a.data(),
                    transpose_a == Transpose::Yes ? s.m : s.k, b.data(),
                    transpose_b == Transpose::Yes ? s.k : s.n, beta, out.data(), s.n);
            return out;
          });
        }
      }
    }
    const std::vector<T> bias = numbers<T>(s.n, 4);
    const PackedMatrix<T> packed(Transpose::No, b.data(), s.k, s.n, s.n);
    expect_same_bits([&] {
      std::vector<T> out = c;
      multiply_bias<T>(a.data(), s.m, s.k, packed, bias.data(), out.data(), s.n);
      return out;
    });
  }
}

TEST(Launch, ProductsHaveTheSameBitsOnAnyNumberOfThreads) {
  expect_same_products<float>();
  expect_same_products<double>();
}

template <class T>
void expect_same_convolutions(const Convolution& s) {
  const int64_t images = s.images * s.channels * s.height * s.width;
  const int64_t filters = s.outputs * s.channels * s.filter_height * s.filter_width;
  const int64_t results = s.images * s.outputs * s.out_height() * s.out_width();
  const std::vector<T> x = numbers<T>(images, 1), w = numbers<T>(filters, 2), g = numbers<T>(results, 3);
  const auto made = [](int64_t size) { return std::vector<T>(static_cast<std::size_t>(size)); };
  expect_same_bits([&] {
    std::vector<T> y = made(results);
    convolve(s, x.data(), w.data(), y.data());
    return y;
  });
  expect_same_bits([&] {
    std::vector<T> dx = made(images);
    convolve_input_gradient(s, g.data(), w.data(), dx.data());
    return dx;
  });
  expect_same_bits([&] {
    std::vector<T> dw = made(filters);
    convolve_filter_gradient(s, g.data(), x.data(), dw.data());
    return dw;
  });
}

TEST(Launch, ConvolutionsHaveTheSameBitsOnAnyNumberOfThreads) {
  const Convolution shape{.images = 19,
                          .channels = 16,
                          .height = 20,
                          .width = 20,
                          .outputs = 48,
                          .filter_height = 3,
                          .filter_width = 3,
                          .padding = {1, 1}};
  expect_same_convolutions<float>(shape);
  expect_same_convolutions<double>(shape);
}

TEST(Launch, RangesOfElementsMakeUpTheWhole) {
  IdlePool pool(3);
  const HelpedLaunches helped(&pool);
  for (const int64_t size : {int64_t{1}, kLeastElements - 1, kLeastElements, 3 * kLeastElements + 17}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(size));
    in_element_ranges(size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++calls[static_cast<std::size_t>(i)];
    });
    for (const std::atomic<int>& each : calls) ASSERT_EQ(each, 1) << size;
  }
}

TEST(Launch, CopiesOfBlocksAreWhole) {
  IdlePool pool(3);
  const HelpedLaunches helped(&pool);
  for (const int64_t size : {1, 3, 4, 8, 16, 1000}) {
    for (const int64_t count : {int64_t{1}, int64_t{7}, 2 * kLeastElements + 5}) {
      for (const int64_t apart : {size, size + 3}) {
        const std::vector<float> from = numbers<float>((count * apart + 3) / 4 + 1, 1);
        std::vector<float> to(from.size());
        copy_blocks(count, size, from.data(), apart, to.data(), apart);
        const auto* source = reinterpret_cast<const char*>(from.data());
        const auto* target = reinterpret_cast<const char*>(to.data());
        for (int64_t b = 0; b < count; ++b)
          ASSERT_EQ(std::memcmp(source + b * apart, target + b * apart, static_cast<std::size_t>(size)), 0);
      }
    }
  }
  EXPECT_GT(pool.launches, 0);
}

TEST(Launch, RangesMakeUpTheWhole) {
  IdlePool pool(3);
  const HelpedLaunches helped(&pool);
  constexpr int64_t kMuch = int64_t{1} << 30;
  for (const int64_t size : {1, 2, 7, 64, 1000}) {
    for (const int64_t step : {1, 3, 64}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(size));
      in_ranges(size, step, kMuch, [&](int64_t begin, int64_t end) {
        EXPECT_EQ(begin % step, 0);
        EXPECT_LT(begin, end);
        for (int64_t i = begin; i < end; ++i) ++calls[static_cast<std::size_t>(i)];
      });
      for (const std::atomic<int>& each : calls) EXPECT_EQ(each, 1) << size << " " << step;
    }
  }
}

TEST(Launch, ThrowsWhatARangeThrows) {
  IdlePool pool(2);
  const HelpedLaunches helped(&pool);
  const auto launch = [] {
    in_ranges(100, 1, int64_t{1} << 30, [](int64_t begin, int64_t) {
      if (begin > 50) throw std::runtime_error("no memory");
    });
  };
  EXPECT_THROW(launch(), std::runtime_error);
}

TEST(Launch, StaysWholeWhereNobodyHelpsOrItIsSmall) {
  int calls = 0;
  in_ranges(100, 1, int64_t{1} << 30, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
  });
  IdlePool pool(2);
  const HelpedLaunches helped(&pool);
  in_ranges(100, 1, 100, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(pool.launches, 0);
}

}  // namespace
}  // namespace hiaton::kernels
