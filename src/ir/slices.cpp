// FunctionBuilder: ranges of numbers and parts of tensors with bounds that only the run knows.
#include <fmt/format.h>

#include "hiaton/builder.h"
#include "hiaton/error.h"

namespace hiaton {

/// From 0 on, to a number that is not negative: twice as many with each call.
Var FunctionBuilder::range_of(Var end) {
  const FunctionRef made =
      owner_.helper("range", {{DType::I64, "end"}}, {Type(DType::I64, {unknown_dim()})},
                    [](FunctionBuilder& f, FunctionRef self) -> Vars {
                      const Var n = f.param(0);
                      return f.if_else(
                          n <= 0,
                          [&] {
                            return f.op("slice", {f.op("stack", {n}, {0})}, {0, 0, 0});
                          },
                          [&] {
                            const Var half = f.call(self, {n / 2});
                            const Var both = f.op("concat", {half, half + n / 2}, {0});
                            return f.if_else(
                                n % 2 == 0, [&] { return both; },
                                [&] {
                                  return f.op("concat", {both, f.op("stack", {n - 1}, {0})}, {0});
                                });
                          });
                    });
  return call(made, {end});
}

Var FunctionBuilder::range(Var end) {
  require_own({&end, 1});
  return range_of(op("check_count", {end}));
}

Var FunctionBuilder::slice(Var tensor, int64_t axis, Var begin, Var end) {
  const std::size_t at = axis_of("slice", tensor, axis);
  const bool has_begin = begin.id().valid();
  if (!has_begin && !end.id().valid()) return tensor;
  const Var size = op("size", {tensor}, {static_cast<int64_t>(at)});
  end = end.id().valid() ? op("check_end", {end, size}) : size;
  Var places = range_of(op("range_length", {has_begin ? begin : constant(int64_t{0}), end}));
  if (has_begin) places = places + begin;
  return at == 0 ? op("gather", {tensor, places}) : at_places(tensor, at, places);
}

Var FunctionBuilder::take(Var tensor, int64_t axis, Var index) {
  const std::size_t at = axis_of("take", tensor, axis);
  if (at == 0) return op("gather", {tensor, index});
  const Var places = op("stack", {index}, {0});
  return op("take", {at_places(tensor, at, places)}, {static_cast<int64_t>(at), 0});
}

std::size_t FunctionBuilder::axis_of(std::string_view word, Var tensor, int64_t axis) const {
  require_own({&tensor, 1});
  const Type& type = tensor.type();
  const auto rank = static_cast<int64_t>(type.shape.size());
  if (!type.is_tensor())
    throw ProgramError(fmt::format("[{}] expected a tensor, found {}", word, to_string(type)));
  if (axis < -rank || axis >= rank)
    throw ProgramError(fmt::format("[{}] expected an axis of {}, found {}", word, to_string(type), axis));
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

/// What stands at these places of an axis that is not the first, on every line along it.
Var FunctionBuilder::at_places(Var tensor, std::size_t axis, Var places) {
  const auto at = static_cast<int64_t>(axis);
  const Var line = op("slice", {tensor}, {at, 0, 1});
  const Var zeros = cast(op("zeros_like", {line}), DType::I64);
  Attributes shape{-1};
  for (std::size_t next = axis + 1; next < tensor.type().shape.size(); ++next) shape.push_back(1);
  const Var row = shape.size() > 1 ? op("reshape", {places}, shape) : places;
  return op("take_along_axis", {tensor, zeros + row}, {at});
}

}  // namespace hiaton
