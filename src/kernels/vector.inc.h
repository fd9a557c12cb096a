// A vector register, as a template over the element type. Included inside a namespace of its own for each
// instruction set, where kVectorBytes is the size of a register; hence without guard. kernels/intrinsics.h
// must have been included before.

/// kLanes elements, which may stand at any address.
template <class T, int kBytes = kVectorBytes>
struct Vector {
  static constexpr int64_t kLanes = kBytes / int64_t{sizeof(T)};
  typedef T Register __attribute__((vector_size(kBytes)));
  typedef T Memory __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));
  static Register load(const T* from) { return *reinterpret_cast<const Memory*>(from); }
  static void store(T* to, Register value) { *reinterpret_cast<Memory*>(to) = value; }

  /// The first `count` < kLanes elements, and `rest` in the others.
  static Register load_some(const T* from, int64_t count, T rest) {
    T lanes[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) lanes[i] = i < count ? from[i] : rest;
    return load(lanes);
  }
  static void store_some(T* to, Register value, int64_t count) {
    T lanes[kLanes];
    store(lanes, value);
    for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
  }

  /// The larger of each two; x where x is NaN.
  static Register at_least(Register least, Register x) { return x < least ? least : x; }
  /// The smaller of each two; x where x is NaN.
  static Register at_most(Register most, Register x) { return x > most ? most : x; }
};

// Single instructions, which the compiler does not find by itself.
#if defined(__AVX2__)
template <>
inline __m256 Vector<float, 32>::at_least(__m256 least, __m256 x) {
  return _mm256_max_ps(least, x);
}
template <>
inline __m256d Vector<double, 32>::at_least(__m256d least, __m256d x) {
  return _mm256_max_pd(least, x);
}
template <>
inline __m256 Vector<float, 32>::at_most(__m256 most, __m256 x) {
  return _mm256_min_ps(most, x);
}
template <>
inline __m256d Vector<double, 32>::at_most(__m256d most, __m256d x) {
  return _mm256_min_pd(most, x);
}
#endif
#if defined(__AVX512F__)
constexpr __mmask16 kAllLanes =
    0xFFFF;  // where gcc 12 sees uninitialized lanes of instructions without a mask
constexpr auto first_lanes(int64_t count) {
  return static_cast<uint16_t>((1U << count) - 1);
}
template <>
inline __m512 Vector<float, 64>::load_some(const float* from, int64_t count, float rest) {
  return _mm512_mask_loadu_ps(_mm512_set1_ps(rest), first_lanes(count), from);
}
template <>
inline __m512d Vector<double, 64>::load_some(const double* from, int64_t count, double rest) {
  return _mm512_mask_loadu_pd(_mm512_set1_pd(rest), static_cast<__mmask8>(first_lanes(count)), from);
}
template <>
inline void Vector<float, 64>::store_some(float* to, __m512 x, int64_t count) {
  _mm512_mask_storeu_ps(to, first_lanes(count), x);
}
template <>
inline void Vector<double, 64>::store_some(double* to, __m512d x, int64_t count) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>(first_lanes(count)), x);
}
template <>
inline __m512 Vector<float, 64>::at_least(__m512 least, __m512 x) {
  return _mm512_maskz_max_ps(kAllLanes, least, x);
}
template <>
inline __m512d Vector<double, 64>::at_least(__m512d least, __m512d x) {
  return _mm512_maskz_max_pd(static_cast<__mmask8>(kAllLanes), least, x);
}
template <>
inline __m512 Vector<float, 64>::at_most(__m512 most, __m512 x) {
  return _mm512_maskz_min_ps(kAllLanes, most, x);
}
template <>
inline __m512d Vector<double, 64>::at_most(__m512d most, __m512d x) {
  return _mm512_maskz_min_pd(static_cast<__mmask8>(kAllLanes), most, x);
}
/// x times 2 to the power of n, whole numbers.
inline __m512 scaled(__m512 x, __m512 n) {
  return _mm512_maskz_scalef_ps(kAllLanes, x, n);
}
inline __m512d scaled(__m512d x, __m512d n) {
  return _mm512_maskz_scalef_pd(static_cast<__mmask8>(kAllLanes), x, n);
}
#endif
