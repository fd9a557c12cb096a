#include "train/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "hiaton/error.h"
#include "train/update_loops.h"

namespace hiaton::train {
namespace {

std::size_t size_of_shape(const ParameterValues& parameter) {
  return static_cast<std::size_t>(parameter.row_count() * parameter.row_width());
}

bool are_rows(const std::vector<int64_t>& rows, int64_t row_count) {
  int64_t previous = -1;
  bool rising = true;
  for (const int64_t row : rows) {
    rising = rising && row > previous;
    previous = row;
  }
  return rising && previous < row_count;
}

/// Calls `take` with the sum of the squares of each piece.
template <class T, class Take>
void squares_by_piece(const T* values, std::size_t count, const Take& take) {
  for (std::size_t begin = 0; begin < count; begin += kSquaresPiece)
    take(update_loops<T>().sum_of_squares(values + begin, std::min(kSquaresPiece, count - begin)));
}

template <class T>
double squares_in(std::span<T> values, const Gradient& gradient, std::size_t width) {
  double sum = 0;
  if (!gradient.sparse) {
    squares_by_piece(values.data(), values.size(), [&sum](double piece) { sum += piece; });
    return sum;
  }
  for (const int64_t row : gradient.rows)
    sum += update_loops<T>().sum_of_squares(values.data() + static_cast<std::size_t>(row) * width, width);
  return sum;
}

}  // namespace

void append_squares(DType dtype, const std::byte* values, std::size_t count, std::vector<double>& squares) {
  const auto append = [&squares](double piece) { squares.push_back(piece); };
  if (dtype == DType::F64) {
    squares_by_piece(reinterpret_cast<const double*>(values), count, append);
  } else {
    squares_by_piece(reinterpret_cast<const float*>(values), count, append);
  }
}

double squares_of(DType dtype, const std::byte* values, std::size_t count) {
  return dtype == DType::F64
             ? update_loops<double>().sum_of_squares(reinterpret_cast<const double*>(values), count)
             : update_loops<float>().sum_of_squares(reinterpret_cast<const float*>(values), count);
}

double squares_of(const Gradient& gradient, const ParameterValues& parameter) {
  const auto width = static_cast<std::size_t>(parameter.row_width());
  return std::visit([&](auto values) { return squares_in(values, gradient, width); }, gradient.values);
}

std::vector<double> squares_of(std::span<const Gradient> gradients,
                               const std::vector<ParameterValues>& parameters) {
  std::vector<double> squares;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    squares.push_back(squares_of(gradients[i], parameters[i]));
  return squares;
}

double norm_of_squares(std::span<const double> squares) {
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

Numbers::Numbers(DType dtype, std::size_t count) {
  if (dtype == DType::F64) {
    all_ = std::vector<double>(count);
  } else {
    all_ = std::vector<float>(count);
  }
}

std::size_t Numbers::size() const {
  return std::visit([](const auto& values) { return values.size(); }, all_);
}

std::span<std::byte> Numbers::bytes() {
  return std::visit([](auto& values) { return std::as_writable_bytes(std::span(values)); }, all_);
}

std::span<const std::byte> Numbers::bytes() const {
  return std::visit([](const auto& values) { return std::as_bytes(std::span(values)); }, all_);
}

double squares_of(const Numbers& values) {
  return values.dtype() == DType::F32
             ? update_loops<float>().sum_of_squares(values.floats().data(), values.size())
             : update_loops<double>().sum_of_squares(values.doubles().data(), values.size());
}

int64_t ParameterValues::row_count() const {
  return shape.empty() ? 1 : shape[0];
}

int64_t ParameterValues::row_width() const {
  int64_t width = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) width *= shape[i];
  return width;
}

void check_form(const std::vector<ParameterValues>& parameters) {
  std::set<std::string_view> names;
  for (const ParameterValues& parameter : parameters) {
    if (!names.insert(parameter.name).second) {
      throw ProgramError(
          fmt::format("expected parameters of different names, found '{}' twice", parameter.name));
    }
    const auto expected = parameter.is_here ? size_of_shape(parameter) : std::size_t{0};
    if (parameter.values.size() != expected) {
      throw ProgramError(fmt::format("parameter '{}': expected {} elements, found {}", parameter.name,
                                     expected, parameter.values.size()));
    }
  }
}

void check_form(std::span<const Gradient> gradients, const std::vector<ParameterValues>& parameters) {
  if (gradients.size() != parameters.size()) {
    throw ProgramError(fmt::format("expected {} gradients, one for each parameter, found {}",
                                   parameters.size(), gradients.size()));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterValues& parameter = parameters[i];
    const Gradient& gradient = gradients[i];
    const std::size_t expected = size_of_shape(parameter);
    if (gradient.size() != expected) {
      throw ProgramError(fmt::format("gradient of '{}': expected {} elements, found {}", parameter.name,
                                     expected, gradient.size()));
    }
    const DType found = gradient.values.index() == 0 ? DType::F32 : DType::F64;
    if (gradient.size() > 0 && found != parameter.values.dtype()) {
      throw ProgramError(fmt::format("gradient of '{}': expected elements of {}, found {}", parameter.name,
                                     name_of(parameter.values.dtype()), name_of(found)));
    }
    if (gradient.sparse && !are_rows(gradient.rows, parameter.row_count())) {
      throw ProgramError(fmt::format("gradient of '{}': expected rows in increasing order, all less than {}",
                                     parameter.name, parameter.row_count()));
    }
  }
}

double norm_of(std::span<const Gradient> gradients, const std::vector<ParameterValues>& parameters) {
  return norm_of_squares(squares_of(gradients, parameters));
}

std::string first_not_finite(std::span<const double> squares,
                             const std::vector<ParameterValues>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!std::isfinite(squares[i])) return parameters[i].name;
  }
  return "";
}

std::string name_not_finite(double loss, std::span<const double> squares,
                            const std::vector<ParameterValues>& parameters) {
  if (!std::isfinite(loss)) return fmt::format("the loss, {},", to_string(Value(loss)));
  return fmt::format("the gradient of '{}'", first_not_finite(squares, parameters));
}

void require_finite(double loss, std::span<const double> squares,
                    const std::vector<ParameterValues>& parameters) {
  if (std::isfinite(loss) && std::isfinite(norm_of_squares(squares))) return;
  throw ProgramError(fmt::format("training diverged: {} is not finite; try a lower learning rate or clipping",
                                 name_not_finite(loss, squares, parameters)));
}

}  // namespace hiaton::train
