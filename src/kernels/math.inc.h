// exp, log, tanh and sigmoid of a vector register. Included like vector.inc.h, and with it.
//
// The powers of two are split off by arithmetic on the representation; what is left is a polynomial of so
// many terms that what it leaves out is below the rounding error.

#include "kernels/vector.inc.h"

/// The representation of a floating-point type, and the lengths and terms of the polynomials.
template <class T>
struct Real;

template <>
struct Real<float> {
  using Bits = int32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kExponentBias = 127;
  static constexpr float kRoundToInteger = 12582912.0F;  // 1.5 * 2^23: adding it leaves whole numbers
  static constexpr float kExpOverflow = 89.0F, kExpUnderflow = -104.0F;
  static constexpr float kTanhIsOne = 10.0F;
  static constexpr float kLog2High = 0.693359375F, kLog2Low = -2.12194440e-4F;  // their sum is log 2
  static constexpr float kLeastNormal = 1.17549435e-38F;
  /// Of r^2, r^3 and so on in exp(r) - 1 - r. With these the largest relative error of exp(r) - 1 for
  /// |r| <= log 2 / 2 is the least possible, 1.3e-8.
  static constexpr float kExpTail[] = {0.49999997F, 0.16666543F, 0.0416672F, 0.0083665475F, 0.0013882517F};
  static constexpr int kLogTerms = 5;
};

template <>
struct Real<double> {
  using Bits = int64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kExponentBias = 1023;
  static constexpr double kRoundToInteger = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double kExpOverflow = 710.0, kExpUnderflow = -746.0;
  static constexpr double kTanhIsOne = 20.0;
  static constexpr double kLog2High = 6.93145751953125e-1, kLog2Low = 1.42860682030941723212e-6;
  static constexpr double kLeastNormal = 2.2250738585072014e-308;
  /// The Taylor series: 1 / 2!, 1 / 3! and so on.
  static constexpr auto kExpTail = [] {
    std::array<double, 12> terms{};
    double inverse = 1;
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = inverse /= static_cast<double>(i + 2);
    return terms;
  }();
  static constexpr int kLogTerms = 10;
};

template <class T>
struct Math {
  using R = Real<T>;
  using V = typename Vector<T>::Register;
  using Bits = typename R::Bits;
  typedef Bits BitsVector __attribute__((vector_size(kVectorBytes)));

  [[gnu::always_inline]] static inline BitsVector bits(V x) { return reinterpret_cast<BitsVector>(x); }
  [[gnu::always_inline]] static inline V from_bits(BitsVector x) { return reinterpret_cast<V>(x); }
  [[gnu::always_inline]] static inline V fill(T x) { return x - V{}; }  // not +: -0.0 keeps its sign
  [[gnu::always_inline]] static inline auto is_nan(V x) {
    return x != x;  // NOLINT(misc-redundant-expression)
  }
  /// x with the sign of y, for x >= 0; or for any x, if y < 0.
  [[gnu::always_inline]] static inline V with_sign(V x, V y) {
    return from_bits(bits(x) | (bits(y) & bits(fill(T{-0.0}))));
  }
  [[gnu::always_inline]] static inline V absolute(V x) { return from_bits(bits(x) & ~bits(fill(T{-0.0}))); }
  /// 2 to the power n, for n in the range of normal exponents.
  [[gnu::always_inline]] static inline V power_of_two(BitsVector n) {
    return from_bits((n + R::kExponentBias) << R::kMantissaBits);
  }

  /// x = n log 2 + r with whole n and |r| <= log 2 / 2; |x| must be below 2^20.
  struct Reduced {
    BitsVector n;
    V whole;  ///< n
    V r;
  };
  [[gnu::always_inline]] static inline Reduced reduce(V x) {
    constexpr T kLog2E = T(1.44269504088896340736);
    const V shifted = x * kLog2E + R::kRoundToInteger;
    const V n = shifted - R::kRoundToInteger;
    return {bits(shifted) - bits(fill(R::kRoundToInteger)), n, (x - n * R::kLog2High) - n * R::kLog2Low};
  }
  /// exp(r) - 1 - r, for a reduced r.
  [[gnu::always_inline]] static inline V exp_tail(V r) {
    constexpr int kLast = static_cast<int>(std::size(R::kExpTail)) - 1;
    V sum = fill(R::kExpTail[kLast]);
#pragma GCC unroll 16
    for (int k = kLast - 1; k >= 0; --k) sum = sum * r + R::kExpTail[k];
    return sum * (r * r);
  }
  /// x times 2 to the power of a reduced n, which alone may be no normal number.
  [[gnu::always_inline]] static inline V scale(V x, const Reduced& reduced) {
    if constexpr (requires { scaled(x, x); }) {
      return scaled(x, reduced.whole);
    } else {
      const BitsVector half = reduced.n >> 1;
      return x * power_of_two(half) * power_of_two(reduced.n - half);
    }
  }

  /// 2 to the power of a reduced n, for n in the range of normal exponents.
  [[gnu::always_inline]] static inline V power_of_two(const Reduced& reduced) {
    if constexpr (requires(V x) { scaled(x, x); }) {
      return scaled(fill(T{1}), reduced.whole);
    } else {
      return power_of_two(reduced.n);
    }
  }

  [[gnu::always_inline]] static inline V exp(V x) {
    return exp_of_at_most(Vector<T>::at_most(fill(R::kExpOverflow), x));
  }
  /// For x that do not overflow.
  [[gnu::always_inline]] static inline V exp_of_at_most(V x) {
    const Reduced reduced = reduce(Vector<T>::at_least(fill(R::kExpUnderflow), x));
    return scale((exp_tail(reduced.r) + reduced.r) + T{1}, reduced);
  }

  [[gnu::always_inline]] static inline V tanh(V x) {
    const V y = Vector<T>::at_most(fill(R::kTanhIsOne), absolute(x));
    const Reduced reduced = reduce(y + y);
    const V power = power_of_two(reduced);
    const V e = (exp_tail(reduced.r) + reduced.r) * power + (power - T{1});  // exp(2 y) - 1
    return with_sign(e / (e + T{2}), x);
  }

  [[gnu::always_inline]] static inline V sigmoid(V x) {
    const V e = exp_of_at_most(with_sign(x, fill(T{-1})));  // of -|x|
    return (x < T{0} ? e : fill(T{1})) / (e + T{1});
  }

  [[gnu::always_inline]] static inline V log(V x) {
    constexpr T kScale = T(Bits{1} << R::kMantissaBits);
    const auto denormal = x < R::kLeastNormal;
    const V normal = absolute(denormal ? x * kScale : x);
    // normal = 2^exponent * m with m in [sqrt(1/2), sqrt(2)).
    const BitsVector least = bits(fill(T(0.70710678118654752440)));
    const BitsVector exponent = (bits(normal) - least) >> R::kMantissaBits;
    const V m = from_bits(bits(normal) - (exponent << R::kMantissaBits));
    // Small whole numbers as floating-point numbers, through the representation.
    const V whole = from_bits(exponent + bits(fill(R::kRoundToInteger))) - R::kRoundToInteger;
    const V n = denormal ? whole - T(R::kMantissaBits) : whole;
    // log m = 2 artanh(s) = 2 s + 2 s^3 / 3 + 2 s^5 / 5 + ..., s = f / (2 + f), f = m - 1; and 2 s = f - s f.
    const V f = m - T{1};
    const V s = f / (f + T{2});
    const V square = s * s;
    V sum = fill(T(2.0 / (2 * R::kLogTerms + 1)));
#pragma GCC unroll 16
    for (int k = R::kLogTerms - 1; k >= 1; --k) sum = sum * square + T(2.0 / (2 * k + 1));
    const V rest = sum * square * s - s * f;  // log m - f
    V result = (n * R::kLog2Low + rest) + f + n * R::kLog2High;
    result = x == T{0} ? fill(-T(__builtin_inf())) : result;
    result = x == T(__builtin_inf()) ? x : result;
    return x >= T{0} ? result : fill(T(__builtin_nan("")));
  }

  [[gnu::always_inline]] static inline V min(V a, V b) {
    V least = b < a ? b : a;
    least = a == b ? from_bits(bits(a) | bits(b)) : least;
    least = is_nan(b) ? b : least;
    return is_nan(a) ? a : least;
  }
  [[gnu::always_inline]] static inline V max(V a, V b) {
    V most = a < b ? b : a;
    most = a == b ? from_bits(bits(a) & bits(b)) : most;
    most = is_nan(b) ? b : most;
    return is_nan(a) ? a : most;
  }
};
