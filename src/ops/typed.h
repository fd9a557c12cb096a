// Tensor kernels of elementwise operations that cannot fail, as loops over elements of the operands' types:
// for those that src/kernels has no vector code for.
#pragma once

#include "ops/family.h"
#include "ops/lines.h"

namespace hiaton::ops {

/// The element itself, or the same one for all.
template <class T>
struct Stepped {
  const T* x;
  int64_t step;
  T operator[](int64_t i) const { return x[i * step]; }
};

template <class T>
Stepped<T> stepped(const KernelCall& call, const Line& line, std::size_t operand) {
  return {call.operands[operand].at<T>(0) + line.begin[operand], line.step[operand]};
}

template <class F, class In, class Out>
Fault typed_binary_as(const KernelCall& call) {
  return Lines(call).for_each([&](const Line& line) {
    const auto a = stepped<In>(call, line, 0);
    const auto b = stepped<In>(call, line, 1);
    Out* out = call.result.at<Out>(0) + line.out;
    if (a.step == 1 && b.step == 1) {
      for (int64_t i = 0; i < line.length; ++i) out[i] = F{}(a.x[i], b.x[i]);
    } else {
      for (int64_t i = 0; i < line.length; ++i) out[i] = F{}(a[i], b[i]);
    }
    return Fault::None;
  });
}

template <class F, class In, class Out>
Fault typed_unary_as(const KernelCall& call) {
  return Lines(call).for_each([&](const Line& line) {
    const auto a = stepped<In>(call, line, 0);
    Out* out = call.result.at<Out>(0) + line.out;
    if (a.step == 1) {
      for (int64_t i = 0; i < line.length; ++i) out[i] = F{}(a.x[i]);
    } else {
      for (int64_t i = 0; i < line.length; ++i) out[i] = F{}(a[i]);
    }
    return Fault::None;
  });
}

/// Truth values from two operands of one of the types `In`.
template <class F, class... In>
Fault typed_predicate(const KernelCall& call) {
  const DType dtype = call.operands[0].dtype;
  Fault fault = Fault::None;
  const bool known =
      ((ScalarTraits<In>::dtype == dtype && (fault = typed_binary_as<F, In, bool>(call), true)) || ...);
  return known ? fault : pointwise(call);
}

/// `Out` from an operand of one of the types `In`.
template <class F, class Out, class... In>
Fault typed_cast(const KernelCall& call) {
  const DType dtype = call.operands[0].dtype;
  Fault fault = Fault::None;
  const bool known =
      ((ScalarTraits<In>::dtype == dtype && (fault = typed_unary_as<F, In, Out>(call), true)) || ...);
  return known ? fault : pointwise(call);
}

/// The result has the type of the operand, one of the types `Of`.
template <class F, class... Of>
Fault typed_unary(const KernelCall& call) {
  const DType dtype = call.operands[0].dtype;
  Fault fault = Fault::None;
  const bool known =
      ((ScalarTraits<Of>::dtype == dtype && (fault = typed_unary_as<F, Of, Of>(call), true)) || ...);
  return known ? fault : pointwise(call);
}
template <class F, class... Of>
Fault typed_binary(const KernelCall& call) {
  const DType dtype = call.operands[0].dtype;
  Fault fault = Fault::None;
  const bool known =
      ((ScalarTraits<Of>::dtype == dtype && (fault = typed_binary_as<F, Of, Of>(call), true)) || ...);
  return known ? fault : pointwise(call);
}

}  // namespace hiaton::ops
