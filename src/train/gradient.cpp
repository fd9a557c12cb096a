#include "train/gradient.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "hiaton/error.h"
#include "train/update_loops.h"

namespace hiaton::train {
namespace {

bool are_rows(const std::vector<int64_t>& rows, int64_t row_count) {
  int64_t previous = -1;
  bool rising = true;
  for (const int64_t row : rows) {
    rising = rising && row > previous;
    previous = row;
  }
  return rising && previous < row_count;
}

double squares_of(const Gradient& gradient, const ParameterValues& parameter) {
  if (!gradient.sparse) return sum_of_squares(gradient.values.data(), gradient.values.size());
  const auto width = static_cast<std::size_t>(parameter.row_width());
  double sum = 0;
  for (const int64_t row : gradient.rows)
    sum += sum_of_squares(gradient.values.data() + static_cast<std::size_t>(row) * width, width);
  return sum;
}

}  // namespace

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
    const auto expected = static_cast<std::size_t>(parameter.row_count() * parameter.row_width());
    if (parameter.values.size() != expected) {
      throw ProgramError(fmt::format("parameter '{}': expected {} elements, found {}", parameter.name,
                                     expected, parameter.values.size()));
    }
  }
}

void check_form(std::span<const Gradient> gradients, const std::vector<ParameterValues>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterValues& parameter = parameters[i];
    const Gradient& gradient = gradients[i];
    if (gradient.values.size() != parameter.values.size()) {
      throw ProgramError(fmt::format("gradient of '{}': expected {} elements, found {}", parameter.name,
                                     parameter.values.size(), gradient.values.size()));
    }
    if (gradient.sparse && !are_rows(gradient.rows, parameter.row_count())) {
      throw ProgramError(fmt::format("gradient of '{}': expected rows in increasing order, all less than {}",
                                     parameter.name, parameter.row_count()));
    }
  }
}

double norm_of(std::span<const Gradient> gradients, const std::vector<ParameterValues>& parameters) {
  double squares = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) squares += squares_of(gradients[i], parameters[i]);
  return std::sqrt(squares);
}

std::string first_not_finite(std::span<const Gradient> gradients,
                             const std::vector<ParameterValues>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!std::isfinite(squares_of(gradients[i], parameters[i]))) return parameters[i].name;
  }
  return "";
}

std::string name_not_finite(double loss, std::span<const Gradient> gradients,
                            const std::vector<ParameterValues>& parameters) {
  if (!std::isfinite(loss)) return fmt::format("the loss, {},", loss);
  return fmt::format("the gradient of '{}'", first_not_finite(gradients, parameters));
}

}  // namespace hiaton::train
