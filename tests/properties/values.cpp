#include <cmath>
#include <limits>

#include "properties/random_choices.h"

namespace hiaton::properties {
namespace {

template <class T>
Value random_integer(Random& random) {
  static const std::vector<T> special{std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                      static_cast<T>(1'000'003), static_cast<T>(-65'536)};
  if (random.percent(18)) return Value(random.pick(special));
  return Value(static_cast<T>(random.between(-3, 9)));
}

template <class T>
Value random_float(Random& random) {
  using Limits = std::numeric_limits<T>;
  static const std::vector<T> special{Limits::infinity(),
                                      -Limits::infinity(),
                                      Limits::quiet_NaN(),
                                      T(-0.0),
                                      Limits::max(),
                                      Limits::denorm_min(),
                                      T(1e-3),
                                      static_cast<T>(0.1L),
                                      T(1e9)};
  if (random.percent(30)) return Value(random.pick(special));
  return Value(static_cast<T>(random.between(-8, 24)) / T(4));
}

}  // namespace

DType random_type(Random& random) {
  static const std::vector<DType> types{DType::Bool, DType::U8,  DType::I32, DType::I64,
                                        DType::I64,  DType::I64, DType::F32, DType::F64};
  return random.pick(types);
}

Value random_value(Random& random, DType type) {
  switch (type) {
    case DType::Bool:
      return Value(random.percent(50));
    case DType::U8:
      return random_integer<uint8_t>(random);
    case DType::I32:
      return random_integer<int32_t>(random);
    case DType::I64:
      return random_integer<int64_t>(random);
    case DType::F32:
      return random_float<float>(random);
    case DType::F64:
      return random_float<double>(random);
  }
  return Value();
}

bool same(const Value& a, const Value& b) {
  if (!a.is_scalar() || !b.is_scalar()) return a == b;
  if (a.dtype() == DType::F32 && b.dtype() == DType::F32 && std::isnan(a.as<float>())) {
    return std::isnan(b.as<float>());
  }
  if (a.dtype() == DType::F64 && b.dtype() == DType::F64 && std::isnan(a.as<double>())) {
    return std::isnan(b.as<double>());
  }
  return a == b;
}

}  // namespace hiaton::properties
