// A vector register, as a template over the element type. Included inside a namespace of its own for each
// instruction set, where kVectorBytes is the size of a register; hence without guard.

/// kLanes elements, which may stand at any address.
template <class T>
struct Vector {
  static constexpr int64_t kLanes = kVectorBytes / int64_t{sizeof(T)};
  typedef T Register __attribute__((vector_size(kVectorBytes)));
  typedef T Memory __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
  static Register load(const T* from) { return *reinterpret_cast<const Memory*>(from); }
  static void store(T* to, Register value) { *reinterpret_cast<Memory*>(to) = value; }

  /// The first `count` <= kLanes elements, and `rest` in the others.
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
};
