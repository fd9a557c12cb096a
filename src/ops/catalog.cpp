#include "ops/families.h"

namespace hiaton {

const Catalog& catalog() {
  using namespace ops;
  static const Catalog all({&add,         &sub,        &mul,         &div,
                            &rem,         &min,        &max,         &neg,
                            &abs,  //
                            &eq,          &ne,         &lt,          &le,
                            &gt,          &ge,                                        //
                            &logical_and, &logical_or, &logical_not, &ops::identity,  //
                            &ops::sqrt,   &ops::exp,   &ops::log,    &ops::sin,
                            &ops::cos,    &ops::tan,  //
                            &ops::asin,   &ops::acos,  &ops::atan,   &ops::sinh,
                            &ops::cosh,   &ops::tanh,  //
                            &ops::floor,  &ops::ceil,  &ops::round,  &ops::trunc,
                            &ops::pow,    &ops::atan2,  //
                            &to_bool,     &to_i32,     &to_i64,      &to_f32,
                            &to_f64,      &make,       &variant,     &field});
  return all;
}

}  // namespace hiaton
