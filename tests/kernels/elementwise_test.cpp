// Elementwise functions on every instruction set: right to the last places, and the same bits wherever an
// element stands.
#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/elementwise_kernels.h"
#include "support.h"

namespace hiaton::kernels {
namespace {

/// A wider type, to compare with.
template <class T>
struct Wide;
template <>
struct Wide<float> {
  using Type = double;
};
template <>
struct Wide<double> {
  using Type = long double;
};

template <class T>
using WideOf = typename Wide<T>::Type;

template <class T>
WideOf<T> exact(UnaryFunction function, T number) {
  using W = WideOf<T>;
  const W x = number;
  switch (function) {
    case UnaryFunction::Negate:
      return -x;
    case UnaryFunction::Absolute:
      return std::fabs(x);
    case UnaryFunction::Exp:
      return std::exp(x);
    case UnaryFunction::Log:
      return std::log(x);
    case UnaryFunction::Sqrt:
      return std::sqrt(x);
    case UnaryFunction::Tanh:
      return std::tanh(x);
    case UnaryFunction::Sigmoid:
      return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
    case UnaryFunction::Erf:
      return std::erf(x);
    case UnaryFunction::Relu:
      return std::isnan(x) || x > 0 ? x : W{0};
  }
  return 0;
}

template <class T>
T exact(BinaryFunction function, T a, T b) {
  switch (function) {
    case BinaryFunction::Add:
      return a + b;
    case BinaryFunction::Subtract:
      return a - b;
    case BinaryFunction::Multiply:
      return a * b;
    case BinaryFunction::Divide:
      return a / b;
    case BinaryFunction::Min:
      return std::isnan(a) || std::isnan(b)         ? std::numeric_limits<T>::quiet_NaN()
             : a < b || (a == b && std::signbit(a)) ? a
                                                    : b;
    case BinaryFunction::Max:
      return std::isnan(a) || std::isnan(b)          ? std::numeric_limits<T>::quiet_NaN()
             : a > b || (a == b && !std::signbit(a)) ? a
                                                     : b;
    case BinaryFunction::TanhGradient:
      return a * (1 - b * b);
    case BinaryFunction::SigmoidGradient:
      return a * b * (1 - b);
    case BinaryFunction::ReluGradient:
      return b > 0 ? a : T{0};
  }
  return 0;
}

/// The distance of two numbers in units in the last place of `expected`, which is rounded to T for infinities
/// and zeros.
template <class T>
double distance_in_last_places(T found, WideOf<T> expected) {
  const T rounded = static_cast<T>(expected);
  if (std::isnan(rounded) || std::isnan(found)) return std::isnan(rounded) == std::isnan(found) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(found)) return rounded == found ? 0 : 1e9;
  if (rounded == 0 && found == 0) return std::signbit(rounded) == std::signbit(found) ? 0 : 1e9;
  const int exponent = std::max(std::ilogb(rounded == 0 ? std::numeric_limits<T>::min() : rounded),
                                std::numeric_limits<T>::min_exponent - 1);
  return static_cast<double>(std::fabs(found - expected) /
                             std::ldexp(WideOf<T>{1}, exponent - std::numeric_limits<T>::digits + 1));
}

template <class T>
std::vector<T> special_numbers() {
  using L = std::numeric_limits<T>;
  std::vector<T> numbers;
  for (const T x : {T{0},
                    T{1},
                    T{0.5},
                    L::min(),
                    L::denorm_min(),
                    100 * L::denorm_min(),
                    L::max(),
                    L::infinity(),
                    L::quiet_NaN(),
                    L::epsilon(),
                    T(1e-10),
                    T{20},
                    T(88.72),
                    T(88.73),
                    T(87.4),
                    T(103.9),
                    T(104.1),
                    T(709.7),
                    T(709.8),
                    T(708.5),
                    T(745.1),
                    T(745.2),
                    T{1} + L::epsilon(),
                    T{1} - L::epsilon(),
                    T(9.01),
                    T(10),
                    T(12),
                    T(0.34657)}) {
    numbers.push_back(x);
    numbers.push_back(-x);
  }
  return numbers;
}

/// Special numbers, numbers around 0, and numbers of every size.
template <class T>
std::vector<T> numbers_of_all_kinds(uint32_t seed) {
  std::vector<T> numbers = special_numbers<T>();
  for (const T x : random_numbers<T>(20000, seed)) {
    numbers.push_back(x);
    numbers.push_back(x * 10);
    numbers.push_back(x * 110);
    numbers.push_back(x * 800);
    numbers.push_back(1 + x / 4);
    numbers.push_back(std::ldexp(x, static_cast<int>(x * 1.1 * std::numeric_limits<T>::max_exponent)));
  }
  return numbers;
}

template <class T>
class Elementwise : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Elementwise, Floats);

TYPED_TEST(Elementwise, UnaryFunctionsAreRightToTheLastPlaces) {
  using T = TypeParam;
  const std::vector<T> x = numbers_of_all_kinds<T>(1);
  const int64_t n = static_cast<int64_t>(x.size());
  for (const InstructionSet set : instruction_sets()) {
    for (int f = 0; f < kUnaryFunctions; ++f) {
      std::vector<T> out(x.size());
      elementwise_kernels<T>(set).unary[f](n, x.data(), out.data());
      double worst = 0;
      size_t where = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double distance =
            distance_in_last_places<T>(out[i], exact<T>(static_cast<UnaryFunction>(f), x[i]));
        if (distance > worst) worst = distance, where = i;
      }
      EXPECT_LE(worst, 4) << "function " << f << " of " << x[where] << " gives " << out[where] << " on set "
                          << static_cast<int>(set);
      this->RecordProperty("worst", std::to_string(worst));
    }
  }
}

TYPED_TEST(Elementwise, BinaryFunctionsAreRight) {
  using T = TypeParam;
  std::vector<T> a, b;
  for (const T x : special_numbers<T>())
    for (const T y : special_numbers<T>()) a.push_back(x), b.push_back(y);
  for (const T x : random_numbers<T>(1000, 2)) a.push_back(x);
  for (const T x : random_numbers<T>(1000, 3)) b.push_back(x);
  const int64_t n = static_cast<int64_t>(a.size());
  for (const InstructionSet set : instruction_sets()) {
    const ElementwiseKernels<T>& kernels = elementwise_kernels<T>(set);
    for (int f = 0; f < kBinaryFunctions; ++f) {
      const auto function = static_cast<BinaryFunction>(f);
      const bool rounded_once = function <= BinaryFunction::Max || function == BinaryFunction::ReluGradient;
      std::vector<T> out(a.size()), right(a.size()), left(a.size());
      kernels.binary[f](n, a.data(), b.data(), out.data());
      kernels.binary_scalar[f](n, a.data(), T{0.75}, right.data());
      kernels.scalar_binary[f](n, T{0.75}, b.data(), left.data());
      const auto check = [&](T found, T x, T y) {
        const T expected = exact<T>(function, x, y);
        if (rounded_once || !(std::fabs(x) < 2 && std::fabs(y) < 2))
          ASSERT_TRUE(rounded_once ? distance_in_last_places<T>(found, expected) == 0 : true)
              << "function " << f << " of " << x << " and " << y << " gives " << found;
        else
          ASSERT_NEAR(found, expected, 4 * std::numeric_limits<T>::epsilon());
      };
      for (size_t i = 0; i < a.size(); ++i) {
        check(out[i], a[i], b[i]);
        check(right[i], a[i], T{0.75});
        check(left[i], T{0.75}, b[i]);
      }
    }
  }
}

TYPED_TEST(Elementwise, ResultsHaveTheSameBitsAtAnyPlaceOfAnyArrayAlsoInPlace) {
  using T = TypeParam;
  constexpr int64_t kCount = 70;
  std::vector<T> x = random_numbers<T>(kCount, 4);
  for (T& number : x) number *= 3;
  for (const InstructionSet set : instruction_sets()) {
    for (int f = 0; f < kUnaryFunctions; ++f) {
      const UnaryKernel<T> kernel = elementwise_kernels<T>(set).unary[f];
      std::vector<T> alone(kCount);
      for (size_t i = 0; i < kCount; ++i) kernel(1, &x[i], &alone[i]);
      for (int64_t start = 0; start < 9; ++start) {
        for (int64_t n = 0; start + n <= kCount; ++n) {
          std::vector<T> out = x;
          kernel(n, out.data() + start, out.data() + start);
          const size_t first = static_cast<size_t>(start), end = static_cast<size_t>(start + n);
          const size_t bytes = static_cast<size_t>(n) * sizeof(T);
          ASSERT_EQ(std::memcmp(out.data() + first, alone.data() + first, bytes), 0)
              << "function " << f << ", n " << n;
          ASSERT_TRUE(std::equal(out.begin(), out.begin() + start, x.begin()));
          ASSERT_TRUE(std::equal(out.begin() + static_cast<int64_t>(end), out.end(),
                                 x.begin() + static_cast<int64_t>(end)));
        }
      }
    }
  }
}

TYPED_TEST(Elementwise, ProductsAreAdded) {
  using T = TypeParam;
  constexpr int64_t kCount = 37;
  const std::vector<T> a = random_numbers<T>(kCount, 5), b = random_numbers<T>(kCount, 6),
                       c = random_numbers<T>(kCount, 7);
  for (const InstructionSet set : instruction_sets()) {
    std::vector<T> products = c, scaled = c;
    elementwise_kernels<T>(set).multiply_add(kCount, a.data(), b.data(), products.data());
    elementwise_kernels<T>(set).add_scaled(kCount, T{-0.3}, a.data(), scaled.data());
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_NEAR(products[i], c[i] + a[i] * b[i], 2 * std::numeric_limits<T>::epsilon());
      ASSERT_NEAR(scaled[i], c[i] - T{0.3} * a[i], 2 * std::numeric_limits<T>::epsilon());
    }
  }
}

TEST(Elementwise, TheBestKernelsAreThoseOfThisMachine) {
  const ElementwiseKernels<float>& best = elementwise_kernels<float>(instruction_set());
  EXPECT_EQ(unary_kernel<float>(UnaryFunction::Tanh), best.unary[static_cast<int>(UnaryFunction::Tanh)]);
  EXPECT_EQ(binary_kernel<float>(BinaryFunction::Max), best.binary[static_cast<int>(BinaryFunction::Max)]);
}

}  // namespace
}  // namespace hiaton::kernels
