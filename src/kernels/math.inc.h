// exp, log, tanh, sigmoid and erf of a vector register. Included like vector.inc.h, and with it.
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
  /// The coefficients of r^2, r^3 and so on in exp(r) - 1 - r. They give the least possible largest relative
  /// error of exp(r) - 1 for |r| <= log 2 / 2, 1.3e-8.
  static constexpr float kExpTail[] = {0.49999997F, 0.16666543F, 0.0416672F, 0.0083665475F, 0.0013882517F};
  static constexpr int kLogTerms = 5;
  /// The coefficients of erf(x) / x for x in [0, 1], by powers of x^2; the largest error is 1.2e-9.
  static constexpr float kErfNear[] = {1.12837911F,    -0.37612626F,    0.112835944F,  -0.0268542115F,
                                       0.00518908724F, -0.00080168643F, 7.87587487e-5F};
  /// The coefficients of exp(x^2) (1 - erf(x)) for x in [1, 4], by powers of (x - 2) / (x + 2); the largest
  /// error is 6.8e-9. From 4 on, erf(x) is 1.
  static constexpr float kErfIsOne = 4.0F, kErfMiddle = 2.0F;
  static constexpr float kErfFar[] = {0.255395681F,   -0.427185982F,  0.241658196F,    -0.0789683089F,
                                      0.00373237184F, 0.00681114011F, -0.000837975414F};
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
  /// As above: 7.4e-18; and for x in [1, 6], by powers of (x - 3) / (x + 3): 1.1e-17.
  static constexpr double kErfNear[] = {
      1.1283791670955126,     -0.37612638903183543,    0.11283791670945006,    -0.02686617064323777,
      0.0052239776071164225,  -0.0008548325975389692,  0.00012055294904839707, -1.492473690741966e-05,
      1.6447424703317362e-06, -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10};
  static constexpr double kErfIsOne = 6.0, kErfMiddle = 3.0;
  static constexpr double kErfFar[] = {0.17900115118138996,    -0.32623356004303716,  0.24560380171233195,
                                       -0.15011593650078744,   0.07166583719774874,   -0.024392499318273194,
                                       0.004269136347508256,   0.0007077464443901538, -0.0005970623517093284,
                                       4.525472635483354e-05,  6.406182073530546e-05, -1.284889451252353e-05,
                                       -8.008021319412685e-06, 2.023603179641757e-06, 1.2801900862962662e-06};
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
  /// terms[0] + terms[1] x + terms[2] x^2 + ...
  template <const auto& terms>
  [[gnu::always_inline]] static inline V polynomial(V x) {
    constexpr int kLast = static_cast<int>(std::size(terms)) - 1;
    V sum = fill(terms[kLast]);
#pragma GCC unroll 16
    for (int k = kLast - 1; k >= 0; --k) sum = sum * x + terms[k];
    return sum;
  }
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
    return polynomial<R::kExpTail>(r) * (r * r);
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

  [[gnu::always_inline]] static inline V erf(V x) {
    const V y = Vector<T>::at_most(fill(R::kErfIsOne), absolute(x));
    const V square = y * y;
    const V near = y * polynomial<R::kErfNear>(square);
    const V middle = fill(R::kErfMiddle);
    const V far = T{1} - exp_of_at_most(-square) * polynomial<R::kErfFar>((y - middle) / (y + middle));
    return with_sign(y < T{1} ? near : far, x);
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
