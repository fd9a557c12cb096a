// Convolutions and their gradients, against the sums of products that they are.
#include "kernels/convolution.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <vector>

namespace hiaton::kernels {
namespace {

std::vector<Convolution> shapes() {
  return {
      {.height = 5, .width = 5, .filter_height = 3, .filter_width = 3},
      {.images = 2,
       .channels = 3,
       .height = 8,
       .width = 7,
       .outputs = 4,
       .filter_height = 3,
       .filter_width = 2},
      {.channels = 16,
       .height = 9,
       .width = 9,
       .outputs = 16,
       .filter_height = 3,
       .filter_width = 3,
       .padding = {1, 1}},
      {.images = 3,
       .channels = 2,
       .height = 9,
       .width = 8,
       .outputs = 5,
       .filter_height = 3,
       .filter_width = 3,
       .stride = {2, 2},
       .padding = {2, 2}},
      {.images = 2, .channels = 32, .height = 6, .width = 6, .outputs = 32},
      {.images = 2,
       .channels = 3,
       .height = 9,
       .width = 12,
       .outputs = 4,
       .filter_height = 2,
       .filter_width = 3,
       .stride = {2, 1},
       .padding = {0, 3},
       .dilation = {3, 2}},
      {.images = 2,
       .channels = 6,
       .height = 5,
       .width = 6,
       .outputs = 4,
       .filter_height = 2,
       .filter_width = 2,
       .padding = {1, 0},
       .groups = 2},
      {.channels = 16,
       .height = 7,
       .width = 5,
       .outputs = 32,
       .filter_height = 3,
       .filter_width = 3,
       .stride = {2, 2},
       .padding = {1, 1},
       .dilation = {1, 2},
       .groups = 16},
  };
}

template <class T>
std::vector<T> numbers(int64_t count, int seed) {
  std::vector<T> made(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] = static_cast<T>(std::sin(static_cast<double>(i) * 1.7 + seed));
  }
  return made;
}

int64_t input_size(const Convolution& s) {
  return s.images * s.channels * s.height * s.width;
}
int64_t filters_size(const Convolution& s) {
  return s.outputs * (s.channels / s.groups) * s.filter_height * s.filter_width;
}
int64_t output_size(const Convolution& s) {
  return s.images * s.outputs * s.out_height() * s.out_width();
}

/// Calls f(place in x, place in w, place in y) for all products that are added up.
template <class F>
void for_products(const Convolution& s, F f) {
  const int64_t of_group = s.channels / s.groups;
  for (int64_t i = 0; i < s.images; ++i)
    for (int64_t o = 0; o < s.outputs; ++o)
      for (int64_t k = 0; k < of_group; ++k)
        for (int64_t u = 0; u < s.filter_height; ++u)
          for (int64_t v = 0; v < s.filter_width; ++v)
            for (int64_t r = 0; r < s.out_height(); ++r)
              for (int64_t c = 0; c < s.out_width(); ++c) {
                const int64_t channel = o / (s.outputs / s.groups) * of_group + k;
                const int64_t row = r * s.stride[0] + u * s.dilation[0] - s.padding[0];
                const int64_t column = c * s.stride[1] + v * s.dilation[1] - s.padding[1];
                if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
                f(((i * s.channels + channel) * s.height + row) * s.width + column,
                  ((o * of_group + k) * s.filter_height + u) * s.filter_width + v,
                  ((i * s.outputs + o) * s.out_height() + r) * s.out_width() + c);
              }
}

template <class T>
void expect_near(const std::vector<T>& found, const std::vector<double>& expected) {
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-11;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance) << "element " << i;
  }
}

template <class T>
class ConvolutionOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ConvolutionOf, Types, );

TYPED_TEST(ConvolutionOf, AddsUpTheProducts) {
  using T = TypeParam;
  for (const Convolution& s : shapes()) {
    const auto x = numbers<T>(input_size(s), 1);
    const auto w = numbers<T>(filters_size(s), 2);
    std::vector<T> y(static_cast<std::size_t>(output_size(s)), T{7});
    std::vector<double> expected(y.size());
    for_products(s, [&](auto i, auto j, auto k) {
      expected[static_cast<std::size_t>(k)] += static_cast<double>(x[static_cast<std::size_t>(i)]) *
                                               static_cast<double>(w[static_cast<std::size_t>(j)]);
    });
    for (int time = 0; time < 2; ++time) {  // the second time with what the first one made
      convolve<T>(s, x.data(), w.data(), y.data());
      expect_near(y, expected);
    }
  }
}

TYPED_TEST(ConvolutionOf, GradientsAddUpTheProductsToo) {
  using T = TypeParam;
  for (const Convolution& s : shapes()) {
    const auto x = numbers<T>(input_size(s), 1);
    const auto w = numbers<T>(filters_size(s), 2);
    const auto g = numbers<T>(output_size(s), 3);
    std::vector<T> dx(x.size(), T{7});
    std::vector<T> dw(w.size(), T{7});
    std::vector<double> expected_dx(x.size());
    std::vector<double> expected_dw(w.size());
    for_products(s, [&](auto i, auto j, auto k) {
      const double slope = g[static_cast<std::size_t>(k)];
      expected_dx[static_cast<std::size_t>(i)] += slope * w[static_cast<std::size_t>(j)];
      expected_dw[static_cast<std::size_t>(j)] += slope * x[static_cast<std::size_t>(i)];
    });
    convolve_input_gradient<T>(s, g.data(), w.data(), dx.data());
    convolve_filter_gradient<T>(s, g.data(), x.data(), dw.data());
    expect_near(dx, expected_dx);
    expect_near(dw, expected_dw);
  }
}

int64_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

/// What a thread keeps for shapes that it has met would grow with every new size of an image.
TEST(Convolutions, OfEverMoreSizesTakeNoEverMoreMemory) {
  const std::vector<float> x(16 * 200 * 8), w(16 * 16 * 9);
  std::vector<float> y(x.size());
  const auto growth_of = [&](int64_t width) {
    const int64_t before = allocated_bytes();
    for (int64_t height = 20; height < 200; ++height) {
      const Convolution s{.channels = 16,
                          .height = height,
                          .width = width,
                          .outputs = 16,
                          .filter_height = 3,
                          .filter_width = 3,
                          .padding = {1, 1}};
      convolve<float>(s, x.data(), w.data(), y.data());
    }
    return allocated_bytes() - before;
  };
  const int64_t first = growth_of(8);
  EXPECT_LT(growth_of(7) + growth_of(6) + growth_of(5), first + (int64_t{1} << 20));
}

}  // namespace
}  // namespace hiaton::kernels
