// Matrix products on every instruction set, against plain sums, and with the same bits however rows are
// batched.
#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/gemm_kernels.h"
#include "support.h"

namespace hiaton::kernels {
namespace {

struct Shape {
  int64_t n, depth, columns;
};
const std::vector<Shape> kShapes = {{1, 1, 1},   {1, 256, 640}, {3, 7, 5},    {25, 128, 384}, {13, 300, 37},
                                    {4, 70, 35}, {61, 33, 130}, {600, 40, 9}, {2, 0, 17},     {0, 5, 5}};

/// The sum over i of a(i) b(i) may differ from the exact one by so much.
template <class T>
double tolerance(int64_t terms) {
  return std::numeric_limits<T>::epsilon() * (2.0 + static_cast<double>(terms));
}

template <class T>
class Gemm : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Floats);

/// Rows of `from`, kGap elements apart, between NaNs that nobody may read or write.
template <class T>
struct Spaced {
  static constexpr int64_t kGap = 3;
  Spaced(const std::vector<T>& from, int64_t rows, int64_t columns) : stride(columns + kGap) {
    elements.assign(static_cast<size_t>(rows * stride), std::numeric_limits<T>::quiet_NaN());
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) at(r, c) = from[static_cast<size_t>(r * columns + c)];
  }
  T& at(int64_t row, int64_t column) { return elements[static_cast<size_t>(row * stride + column)]; }
  T* data() { return elements.data(); }
  bool gaps_untouched(int64_t rows) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = stride - kGap; c < stride; ++c)
        if (!std::isnan(at(r, c))) return false;
    return true;
  }
  int64_t stride;
  std::vector<T> elements;
};

template <class T>
MultiplyArguments<T> arguments(Spaced<T>& x, int64_t n, const PackedMatrix<T>& w, bool accumulate,
                               Spaced<T>& out) {
  constexpr int64_t kColumns = PackedMatrix<T>::kPanelColumns;
  return {.x = x.data(),
          .x_stride = x.stride,
          .rows = n,
          .depth = w.depth(),
          .w = w.panels(),
          .panel_stride = w.depth() * kColumns,
          .step = kColumns,
          .columns = w.columns(),
          .accumulate = accumulate,
          .bias = nullptr,
          .out = out.data(),
          .out_stride = out.stride};
}

TYPED_TEST(Gemm, MultipliesByAPackedMatrixOnEveryInstructionSet) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    for (const auto& [n, depth, columns] : kShapes) {
      const std::vector<T> x = random_numbers<T>(n * depth, 1), w = random_numbers<T>(depth * columns, 2);
      const std::vector<T> before = random_numbers<T>(n * columns, 3);
      const PackedMatrix<T> packed(Transpose::No, w.data(), depth, columns, columns);
      for (const bool accumulate : {false, true}) {
        Spaced<T> left(x, n, depth), out(before, n, columns);
        gemm_kernels<T>(set).multiply(arguments(left, n, packed, accumulate, out));
        for (int64_t r = 0; r < n; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            double expected = accumulate ? before[static_cast<size_t>(r * columns + c)] : 0.0;
            for (int64_t i = 0; i < depth; ++i)
              expected +=
                  double{x[static_cast<size_t>(r * depth + i)]} * w[static_cast<size_t>(i * columns + c)];
            ASSERT_NEAR(out.at(r, c), expected, tolerance<T>(depth))
                << n << " x " << depth << " x " << columns;
          }
        }
        ASSERT_TRUE(out.gaps_untouched(n));
      }
    }
  }
}

TYPED_TEST(Gemm, GivesARowTheSameBitsAloneAndAnywhereInABatch) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    for (const int64_t columns : {5, 35, 640}) {
      constexpr int64_t kDepth = 70, kRows = 64;
      const std::vector<T> x = random_numbers<T>(kRows * kDepth, 4),
                           w = random_numbers<T>(kDepth * columns, 5);
      const PackedMatrix<T> packed(Transpose::No, w.data(), kDepth, columns, columns);
      const std::vector<T> zeros(static_cast<size_t>(kRows * columns));
      Spaced<T> left(x, kRows, kDepth), alone(zeros, kRows, columns);
      for (int64_t r = 0; r < kRows; ++r) {
        MultiplyArguments<T> one = arguments(left, 1, packed, false, alone);
        one.x += r * left.stride;
        one.out += r * alone.stride;
        gemm_kernels<T>(set).multiply(one);
      }
      for (int64_t n = 2; n <= kRows; ++n) {
        Spaced<T> batch(zeros, kRows, columns);
        gemm_kernels<T>(set).multiply(arguments(left, n, packed, false, batch));
        for (int64_t r = 0; r < n; ++r)
          for (int64_t c = 0; c < columns; ++c)
            ASSERT_EQ(batch.at(r, c), alone.at(r, c)) << n << ": " << r << ", " << c;
      }
    }
  }
}

TYPED_TEST(Gemm, SumsOuterProductsOnEveryInstructionSetWithTheSameBitsHoweverTheRowsAreCut) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    for (const Shape& shape : kShapes) {
      const int64_t n = shape.n, depth = shape.depth, columns = shape.columns;
      const std::vector<T> x = random_numbers<T>(n * depth, 6), g = random_numbers<T>(n * columns, 7);
      const std::vector<T> before = random_numbers<T>(depth * columns, 8);
      Spaced<T> left(x, n, depth), right(g, n, columns), whole(before, depth, columns),
          cut(before, depth, columns);
      const GemmKernels<T>& kernels = gemm_kernels<T>(set);
      std::vector<T> memory(static_cast<size_t>(kernels.outer_memory(depth)));
      const auto add = [&](int64_t first, int64_t rows, Spaced<T>& out) {
        kernels.accumulate_outer({left.data() + first * left.stride, left.stride,
                                  right.data() + first * right.stride, right.stride, rows, depth, columns,
                                  out.data(), out.stride, memory.data()});
      };
      add(0, n, whole);
      add(0, n / 3, cut);
      add(n / 3, n - n / 3, cut);
      for (int64_t i = 0; i < depth; ++i) {
        for (int64_t c = 0; c < columns; ++c) {
          double expected = before[static_cast<size_t>(i * columns + c)];
          for (int64_t r = 0; r < n; ++r)
            expected +=
                double{x[static_cast<size_t>(r * depth + i)]} * g[static_cast<size_t>(r * columns + c)];
          ASSERT_NEAR(whole.at(i, c), expected, tolerance<T>(n)) << n << " x " << depth << " x " << columns;
          ASSERT_EQ(whole.at(i, c), cut.at(i, c));
        }
      }
      ASSERT_TRUE(whole.gaps_untouched(depth));
    }
  }
}

TYPED_TEST(Gemm, AddsABiasLikeASumAndPacksTransposedMatrices) {
  using T = TypeParam;
  constexpr int64_t kRows = 11, kDepth = 90, kColumns = 43;
  const std::vector<T> x = random_numbers<T>(kRows * kDepth, 9), w = random_numbers<T>(kDepth * kColumns, 10);
  const std::vector<T> bias = random_numbers<T>(kColumns, 11);
  std::vector<T> transposed(w.size());
  for (size_t i = 0; i < kDepth; ++i)
    for (size_t c = 0; c < kColumns; ++c) transposed[c * kDepth + i] = w[i * kColumns + c];
  PackedMatrix<T> straight(Transpose::No, w.data(), kDepth, kColumns, kColumns);
  PackedMatrix<T> turned(Transpose::No, x.data(), 1, 1, 1);
  turned.pack(Transpose::Yes, transposed.data(), kDepth, kColumns, kDepth);
  std::vector<T> first(kRows * kColumns), second(kRows * kColumns), product(kRows * kColumns);
  multiply_bias(x.data(), kRows, kDepth, straight, bias.data(), first.data(), kColumns);
  multiply_bias(x.data(), kRows, kDepth, turned, bias.data(), second.data(), kColumns);
  EXPECT_EQ(first, second);
  multiply(x.data(), kRows, kDepth, straight, product.data(), kColumns, false);
  for (size_t i = 0; i < first.size(); ++i) ASSERT_EQ(first[i], product[i] + bias[i % kColumns]);
}

TYPED_TEST(Gemm, MultipliesMatricesInEveryOrientationAndScale) {
  using T = TypeParam;
  constexpr int64_t kM = 29, kN = 50, kK = 41;
  for (const Transpose ta : {Transpose::No, Transpose::Yes}) {
    for (const Transpose tb : {Transpose::No, Transpose::Yes}) {
      for (const auto& [alpha, beta] :
           std::vector<std::pair<T, T>>{{1, 0}, {1, 1}, {-2, 0.5}, {0.5, 0}, {1, 3}}) {
        const bool a_turned = ta == Transpose::Yes, b_turned = tb == Transpose::Yes;
        const int64_t a_columns = a_turned ? kM : kK, b_columns = b_turned ? kK : kN;
        Spaced<T> a(random_numbers<T>(kM * kK, 12), a_turned ? kK : kM, a_columns);
        Spaced<T> b(random_numbers<T>(kK * kN, 13), b_turned ? kN : kK, b_columns);
        std::vector<T> before = random_numbers<T>(kM * kN, 14);
        if (beta == 0) before[3] = std::numeric_limits<T>::quiet_NaN();
        Spaced<T> c(before, kM, kN);
        gemm<T>(ta, tb, kM, kN, kK, alpha, a.data(), a.stride, b.data(), b.stride, beta, c.data(), c.stride);
        for (int64_t i = 0; i < kM; ++i) {
          for (int64_t j = 0; j < kN; ++j) {
            double sum = 0;
            for (int64_t k = 0; k < kK; ++k)
              sum += double{a_turned ? a.at(k, i) : a.at(i, k)} * (b_turned ? b.at(j, k) : b.at(k, j));
            const double old = beta == 0 ? 0.0 : double{beta} * before[static_cast<size_t>(i * kN + j)];
            ASSERT_NEAR(c.at(i, j), alpha * sum + old, 4 * tolerance<T>(kK));
          }
        }
        ASSERT_TRUE(c.gaps_untouched(kM));
      }
    }
  }
}

}  // namespace
}  // namespace hiaton::kernels
