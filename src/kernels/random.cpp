// Compiled without contraction of products and sums: with basic arithmetic alone, every machine rounds alike.
#include "kernels/random.h"

#include <algorithm>
#include <cmath>

namespace hiaton::kernels {
namespace {

std::array<uint32_t, 2> halves(int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  return {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
}

/// Calls f(i, word) for i in [0, n).
template <class F>
void for_words(int64_t n, int64_t seed, F f) {
  const std::array<uint32_t, 2> key = halves(seed);
  for (int64_t i = 0; i < n; i += 4) {
    const auto block = static_cast<uint64_t>(i / 4);
    const auto words = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0}, key);
    for (int64_t k = 0; k < std::min<int64_t>(4, n - i); ++k) f(i + k, words[static_cast<std::size_t>(k)]);
  }
}

float unit_interval(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

/// The natural logarithm of a number in (0, 1): the exponent, and a series in (m - 1) / (m + 1).
double logarithm(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 2.0 / k;
  return exponent * 0.69314718055994530942 + sum * s;
}

template <std::size_t count>
double polynomial(const double (&coefficients)[count], double x) {
  double sum = 0;
  for (double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

/// The number below which a normal variable lies with probability p, for p in [2^-33, 1 - 2^-33]. Wichura
/// 1988, algorithm AS 241 (PPND16).
double normal_quantile(double p) {
  static constexpr double kCentralTop[] = {
      2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4, 4.5921953931549871457e+4,
      1.3731693765509461125e+4, 1.9715909503065514427e+3, 1.3314166789178437745e+2, 3.3871328727963666080e+0};
  static constexpr double kCentralBottom[] = {
      5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4, 2.1213794301586595867e+4,
      5.3941960214247511077e+3, 6.8718700749205790830e+2, 4.2313330701600911252e+1, 1.0};
  static constexpr double kTailTop[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                        2.41780725177450611770e-1, 1.27045825245236838258e+0,
                                        3.64784832476320460504e+0, 5.76949722146069140550e+0,
                                        4.63033784615654529590e+0, 1.42343711074968357734e+0};
  static constexpr double kTailBottom[] = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                           1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                           6.89767334985100004550e-1, 1.67638483018380384940e+0,
                                           2.05319162663775882187e+0, 1.0};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentralTop, r) / polynomial(kCentralBottom, r);
  }
  const double r = std::sqrt(-logarithm(q < 0 ? p : 1 - p)) - 1.6;
  const double x = polynomial(kTailTop, r) / polynomial(kTailBottom, r);
  return q < 0 ? -x : x;
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  constexpr uint64_t kMultiplier[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kWeyl[] = {0x9E3779B9, 0xBB67AE85};
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = kMultiplier[0] * counter[0];
    const uint64_t b = kMultiplier[1] * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + kWeyl[0], key[1] + kWeyl[1]};
  }
  return counter;
}

void uniform(int64_t n, int64_t seed, float* out) {
  for_words(n, seed, [&](int64_t i, uint32_t word) { out[i] = unit_interval(word); });
}

void normal(int64_t n, int64_t seed, float* out) {
  for_words(n, seed, [&](int64_t i, uint32_t word) {
    out[i] = static_cast<float>(normal_quantile((word + 0.5) * 0x1p-32));
  });
}

int64_t fold_in(int64_t seed, int64_t number) {
  // A counter that for_words does not reach.
  const auto [low, high] = halves(number);
  const auto words = philox({low, high, 1, 0}, halves(seed));
  return static_cast<int64_t>(words[0] | static_cast<uint64_t>(words[1]) << 32);
}

template <class T>
void dropout(int64_t n, const T* x, T rate, int64_t seed, T* out) {
  const T scale = T{1} / (T{1} - rate);
  for_words(n, seed, [&](int64_t i, uint32_t word) {
    out[i] = static_cast<T>(unit_interval(word)) >= rate ? x[i] * scale : T{0};
  });
}

template void dropout(int64_t, const float*, float, int64_t, float*);
template void dropout(int64_t, const double*, double, int64_t, double*);

}  // namespace hiaton::kernels
