#include <fmt/format.h>

#include <cmath>
#include <new>
#include <numbers>

#include "hiaton/run.h"
#include "tensor/scalar_or_tensor.h"

namespace hiaton {
namespace {

/// Numbers by counter: the n-th of a stream needs none of those before it.
class CounterRandom {
 public:
  CounterRandom(uint64_t seed, uint64_t stream) : key_(mix(seed + kStep * (stream + 1))) {}

  /// In [0, 1).
  double uniform(uint64_t n) const { return static_cast<double>(mix(key_ + kStep * n) >> 11) * 0x1p-53; }
  /// A normally distributed number with mean 0 and standard deviation 1.
  double normal(uint64_t n) const {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(2 * n)));
    return radius * std::cos(2 * std::numbers::pi * uniform(2 * n + 1));
  }

 private:
  static constexpr uint64_t kStep = 0x9E3779B97F4A7C15;

  /// The finalizer of SplitMix64.
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

  uint64_t key_;
};

double number_of(const Initializer& initial, const CounterRandom& random, double glorot, uint64_t n) {
  switch (initial.kind) {
    case Initializer::Kind::Zeros:
      return 0;
    case Initializer::Kind::Ones:
      return 1;
    case Initializer::Kind::Uniform:
      return initial.number * (2 * random.uniform(n) - 1);
    case Initializer::Kind::Normal:
      return initial.number * random.normal(n);
    case Initializer::Kind::Glorot:
      return glorot * (2 * random.uniform(n) - 1);
  }
  return 0;
}

/// Throws ProgramError that names the parameter where there is no room for it.
Tensor memory_for(const graph::Parameter& parameter, const std::vector<int64_t>& dims) {
  try {
    return Tensor(parameter.type.dtype, dims);
  } catch (const std::bad_alloc&) {
    throw ProgramError(
        fmt::format("out of memory: there is no room for the learned parameter '{}' of type {}",
                    parameter.name, to_string(parameter.type)));
  }
}

double glorot_limit(std::span<const int64_t> dims) {
  const std::size_t rank = dims.size();
  if (rank == 0) return glorot_limit(std::vector<int64_t>{1});
  const auto columns = static_cast<double>(dims[rank - 1]);
  return std::sqrt(6 / (columns + (rank > 1 ? static_cast<double>(dims[rank - 2]) : 1.0)));
}

}  // namespace

std::vector<Value> initial_parameters(std::span<const graph::Parameter> parameters, uint64_t seed) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::vector<int64_t> dims;
    for (const Dim& dim : parameters[i].type.shape) dims.push_back(dim.size);
    Tensor tensor = memory_for(parameters[i], dims);
    const CounterRandom random(seed, i);
    const double glorot = glorot_limit(dims);
    const auto fill = [&]<class T>(T* elements) {
      const int64_t size = tensor.size();
      for (int64_t n = 0; n < size; ++n) {
        elements[n] =
            static_cast<T>(number_of(parameters[i].initial, random, glorot, static_cast<uint64_t>(n)));
      }
    };
    if (tensor.dtype() == DType::F64) {
      fill(tensor.mutable_data<double>());
    } else {
      fill(tensor.mutable_data<float>());
    }
    values.push_back(scalar_or_tensor(std::move(tensor)));
  }
  return values;
}

}  // namespace hiaton
