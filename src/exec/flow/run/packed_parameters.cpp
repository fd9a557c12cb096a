#include "exec/flow/run/packed_parameters.h"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

namespace hiaton::exec::flow {

PackedParameters::PackedParameters(const Plan& plan) {
  std::set<std::pair<std::size_t, bool>> used;
  for (const Region& region : plan.regions) {
    for (const Step& step : region.steps) {
      if (step.code == Step::Code::Product) used.emplace(step.operands[1].index, step.transposed);
    }
  }
  for (const auto& [parameter, transposed] : used) {
    std::vector<std::size_t>& places = places_[transposed ? 1 : 0];
    places.resize(parameter + 1);
    places[parameter] = matrices_.size();
    matrices_.push_back({.parameter = parameter, .transposed = transposed});
  }
}

void PackedParameters::update(std::span<const Value> parameters, ThreadPool* pool) {
  std::vector<Matrix*> changed;
  for (Matrix& matrix : matrices_) {
    if (matrix.of.object() != parameters[matrix.parameter].slot().tensor) changed.push_back(&matrix);
  }
  // The largest first: then the threads end at about the same time.
  if (pool != nullptr) {
    std::ranges::sort(changed, std::greater(),
                      [&](const Matrix* matrix) { return parameters[matrix->parameter].tensor().size(); });
  }
  std::vector<std::exception_ptr> errors(changed.size());
  run_in_ranges(pool, changed.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      try {
        pack(*changed[i], parameters[changed[i]->parameter].tensor());
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

void PackedParameters::pack(Matrix& matrix, const Tensor& parameter) {
  matrix.of = Tensor();  // of none, should there be no memory for it
  const int64_t rows = parameter.dims()[0];
  const int64_t columns = parameter.dims()[1];
  const auto pack_as = [&]<class T>(kernels::PackedMatrix<T>& packed) {
    packed.pack(matrix.transposed ? kernels::Transpose::Yes : kernels::Transpose::No, parameter.data<T>(),
                matrix.transposed ? columns : rows, matrix.transposed ? rows : columns, columns);
  };
  if (parameter.dtype() == DType::F64) {
    pack_as(matrix.f64);
  } else {
    pack_as(matrix.f32);
  }
  matrix.of = parameter;
}

}  // namespace hiaton::exec::flow
