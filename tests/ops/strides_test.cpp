// Operands whose instances are not contiguous: views, as batches make them.
#include <gtest/gtest.h>

#include <array>

#include "hiaton/op.h"
#include "hiaton/tensor.h"

namespace hiaton {
namespace {

/// a + b for three instances [width] each: those of a stand `stride` elements apart, those of b side by side.
std::vector<double> sums(int64_t width, int64_t stride) {
  std::vector<double> a(static_cast<std::size_t>(3 * stride));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = 10.0 * static_cast<double>(i);
  std::vector<double> b(static_cast<std::size_t>(3 * width), 1);
  std::vector<double> out(b.size());
  const std::array<int64_t, 1> dims{width};
  const auto argument = [&](std::vector<double>& of, int64_t apart) {
    return TensorArgument{reinterpret_cast<std::byte*>(of.data()), dims, DType::F64, apart};
  };
  const std::array<TensorArgument, 2> operands{argument(a, stride), argument(b, width)};
  const OpDef& add = *catalog().find("add");
  EXPECT_EQ(add.tensor_kernel.value({&add, operands, argument(out, width), {}, 3, OverflowMode::Wrap}),
            Fault::None);
  return out;
}

TEST(Strides, ElementwiseOperationsTakeInstancesThatStandApart) {
  EXPECT_EQ(sums(2, 4), (std::vector<double>{1, 11, 41, 51, 81, 91}));
}

TEST(Strides, AlsoInstancesOfOneElement) {
  EXPECT_EQ(sums(1, 4), (std::vector<double>{1, 41, 81}));
}

}  // namespace
}  // namespace hiaton
