// Packed parameters: the products of a run see the parameters of this run, however those before were packed.
#include "exec/flow/run/packed_parameters.h"

#include <gtest/gtest.h>

#include <string>

#include "exec/programs.h"

namespace hiaton::exec::testing {
namespace {

constexpr int64_t kRows = 3;
constexpr int64_t kColumns = 20;

template <class T>
constexpr DType kDType = std::is_same_v<T, float> ? DType::F32 : DType::F64;

/// Elements first, first + 1, ...
template <class T>
Value matrix(T first) {
  Tensor tensor(kDType<T>, {kRows, kColumns});
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<T>()[i] = first + static_cast<T>(i);
  return Value(tensor);
}

/// The plan of a function that multiplies by the parameters U, never read alone, V as it is and W both ways.
template <class T>
flow::Plan plan_of_products() {
  const std::string f = std::is_same_v<T, float> ? "f32" : "f64";
  const std::string matrix = ": " + f + "[3, 20] = zeros\n";
  return flow::compile(graph_of("param U" + matrix + "param V" + matrix + "param W" + matrix + "fn main(x: " +
                                f + "[3], y: " + f + "[20]) -> (" + f + "[20], " + f + "[3]) =\n" +
                                "  (tanh(x @ V) + tanh(x @ W) + x @ (U * 2), tanh(matmul_nt(y, W)))\n"),
                       OverflowMode::Wrap);
}

/// What a row of ones times the packed matrix is, beside the sums that the elements of `parameter` give.
template <class T>
void expect_packed(const flow::PackedParameters& packed, std::size_t place, const Value& parameter,
                   bool transposed) {
  const kernels::PackedMatrix<T>& matrix = packed.get<T>(place, transposed);
  ASSERT_EQ(matrix.depth(), transposed ? kColumns : kRows);
  ASSERT_EQ(matrix.columns(), transposed ? kRows : kColumns);
  const std::vector<T> ones(static_cast<std::size_t>(matrix.depth()), 1);
  std::vector<T> sums(static_cast<std::size_t>(matrix.columns()));
  kernels::multiply<T>(ones.data(), 1, matrix.depth(), matrix, sums.data(), matrix.columns(), false);
  const T* elements = parameter.tensor().data<T>();
  for (int64_t column = 0; column < matrix.columns(); ++column) {
    T expected = 0;
    for (int64_t row = 0; row < matrix.depth(); ++row) {
      expected += transposed ? elements[column * kColumns + row] : elements[row * kColumns + column];
    }
    EXPECT_EQ(sums[static_cast<std::size_t>(column)], expected)
        << "parameter " << place << ", column " << column;
  }
}

template <class T>
void expect_packed(const flow::PackedParameters& packed, const std::vector<Value>& parameters) {
  expect_packed<T>(packed, 1, parameters[1], false);
  expect_packed<T>(packed, 2, parameters[2], false);
  expect_packed<T>(packed, 2, parameters[2], true);
}

template <class T>
class PackedParameters : public ::testing::Test {};

using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PackedParameters, Floats);

TYPED_TEST(PackedParameters, FollowThoseOfTheRun) {
  using T = TypeParam;
  const flow::Plan plan = plan_of_products<T>();
  ThreadPool pool(3);
  for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
    flow::PackedParameters packed(plan);
    std::vector<Value> parameters = {matrix<T>(1), matrix<T>(2), matrix<T>(3)};
    packed.update(parameters, threads);
    expect_packed<T>(packed, parameters);
    parameters[2] = matrix<T>(40);
    packed.update(parameters, threads);
    expect_packed<T>(packed, parameters);
    std::swap(parameters[1], parameters[2]);
    packed.update(parameters, threads);
    expect_packed<T>(packed, parameters);
  }
}

TYPED_TEST(PackedParameters, ArePackedAgainOnlyWhereTheyChanged) {
  using T = TypeParam;
  const flow::Plan plan = plan_of_products<T>();
  flow::PackedParameters packed(plan);
  std::vector<Value> parameters = {matrix<T>(1), matrix<T>(2), matrix<T>(3)};
  packed.update(parameters, nullptr);
  // Against the rule that elements stay as they are: it shows which ones are read again.
  Tensor first = parameters[1].tensor();
  *first.template mutable_data<T>() = 1000;
  parameters[1] = Value(first);
  parameters[2] = matrix<T>(30);
  packed.update(parameters, nullptr);
  expect_packed<T>(packed, {matrix<T>(1), matrix<T>(2), parameters[2]});
}

TYPED_TEST(PackedParameters, HoldTheTensorSoThatNoOtherOneTakesItsPlace) {
  using T = TypeParam;
  const flow::Plan plan = plan_of_products<T>();
  flow::PackedParameters packed(plan);
  for (int first = 0; first < 20; ++first) {
    const std::vector<Value> parameters = {matrix<T>(1), matrix<T>(static_cast<T>(first)),
                                           matrix<T>(static_cast<T>(-first))};
    packed.update(parameters, nullptr);
    expect_packed<T>(packed, parameters);
  }
}

}  // namespace
}  // namespace hiaton::exec::testing
