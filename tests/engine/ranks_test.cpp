// Tensors of as many dimensions as there may be: a batch of them has one more.
#include "engine/all_ways.h"

namespace hiaton {
namespace {

const std::string kMost = "f32[2, 1, 1, 1, 1, 1, 1, 3]";

Tensor tensor_of(float first) {
  Tensor tensor(DType::F32, {2, 1, 1, 1, 1, 1, 1, 3});
  for (int i = 0; i < 6; ++i) tensor.mutable_data<float>()[i] = first + static_cast<float>(i);
  return tensor;
}

Value list_of(const std::vector<Value>& elements) {
  Value list(Data(0, {}));
  for (std::size_t i = elements.size(); i-- > 0;) list = Data(1, {elements[i], list});
  return list;
}

TEST(Ranks, TheLargestCanBeBatched) {
  const std::string text = "fn twice(x: " + kMost + ") -> " + kMost + " = x * 2\n" +  //
                           "fn main(xs: List[" + kMost + "]) -> List[" + kMost + "] = map(twice, xs)\n";
  std::vector<Value> given;
  std::vector<Value> expected;
  for (const float first : {1.0f, 7.5f, -3.0f}) {
    given.emplace_back(tensor_of(first));
    Tensor twice = tensor_of(first);
    for (int i = 0; i < 6; ++i) twice.mutable_data<float>()[i] *= 2;
    expected.emplace_back(std::move(twice));
  }
  expect_in_all_ways(text, {list_of(given)}, {list_of(expected)});
}

TEST(Ranks, TheLargestHaveGradients) {
  const std::string text = "fn f(x: " + kMost + ") -> f32 = sum(transpose(x) * transpose(x))\n" +  //
                           "fn main(x: " + kMost + ") -> " + kMost + " = grad(f)(x)\n";
  Tensor expected = tensor_of(1);
  for (int i = 0; i < 6; ++i) expected.mutable_data<float>()[i] *= 2;
  expect_in_all_ways(text, {Value(tensor_of(1))}, {Value(std::move(expected))});
}

}  // namespace
}  // namespace hiaton
