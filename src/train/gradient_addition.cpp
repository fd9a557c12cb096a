// How a process adds up what the others have sent of their gradients, and the squares of the sums.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "kernels/elementwise.h"
#include "train/gradient_exchange.h"

namespace hiaton::train {
namespace {

template <class T>
void add_as(std::size_t count, const std::byte* a, const std::byte* b, std::byte* sum) {
  static const kernels::BinaryKernel<T> kernel = kernels::binary_kernel<T>(kernels::BinaryFunction::Add);
  kernel(static_cast<int64_t>(count), reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
         reinterpret_cast<T*>(sum));
}

void add(DType dtype, std::size_t count, const std::byte* a, const std::byte* b, std::byte* sum) {
  return dtype == DType::F64 ? add_as<double>(count, a, b, sum) : add_as<float>(count, a, b, sum);
}

}  // namespace

void GradientExchange::add_up() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    std::vector<Row>& rows = parameters_[i].sparse;
    std::ranges::sort(rows, {}, [](const Row& row) { return std::tuple(row.row, row.leaf); });
    if (parameters_[i].is_dense) {
      add_elements(i);
      if (parameters_[i].is_divided()) add_squares(i);
    } else {
      add_rows(i);
      if (parameters_[i].is_divided()) add_squares_of_rows(i);
    }
  }
}

/// Adds up the rows of a parameter whose gradient is sparse in all subtrees.
void GradientExchange::add_rows(std::size_t index) {
  const ParameterGradient& parameter = parameters_[index];
  auto* sums = sums_.values(index).mutable_data<std::byte>();
  for (auto row = parameter.sparse.begin(); row != parameter.sparse.end();) {
    const std::size_t number = row->row;
    std::ranges::fill(addends_, nullptr);
    for (; row != parameter.sparse.end() && row->row == number; ++row) addends_[row->leaf] = row->values;
    sums_.touch(index, static_cast<int64_t>(number));
    fold(parameter, parameter.width, sums + number * parameter.width * parameter.element());
  }
}

/// The elements of this process.
void GradientExchange::add_elements(std::size_t index) {
  const ParameterGradient& parameter = parameters_[index];
  const PartRange elements = elements_of(self_, parameter);
  std::byte* sum = sums_.dense(index).mutable_data<std::byte>() + elements.begin * parameter.element();
  if (elements.size() == 0) return;
  if (std::ranges::find(parameter.dense, nullptr) != parameter.dense.end())
    return add_mixed(parameter, elements, sum);
  addends_ = parameter.dense;
  fold(parameter, elements.size(), sum);
}

void GradientExchange::add_squares(std::size_t index) {
  ParameterGradient& parameter = parameters_[index];
  const PartRange elements = elements_of(self_, parameter);
  const std::byte* sums = sums_[index].values.data<std::byte>() + elements.begin * parameter.element();
  std::vector<double> own;
  append_squares(parameter.dtype, sums, elements.size(), own);
  parameter.squares.resize(pieces_of(parameter.size()));
  std::ranges::copy(own,
                    parameter.squares.begin() + static_cast<std::ptrdiff_t>(elements.begin / kSquaresPiece));
}

void GradientExchange::add_squares_of_rows(std::size_t index) {
  ParameterGradient& parameter = parameters_[index];
  const std::byte* sums = sums_[index].values.data<std::byte>();
  const std::size_t bytes = parameter.width * parameter.element();
  for (const int64_t row : sums_[index].rows) {
    const auto number = static_cast<std::size_t>(row);
    const double squares = squares_of(parameter.dtype, sums + number * bytes, parameter.width);
    parameter.row_squares[self_].push_back({number, squares});
  }
}

/// Where some subtrees have rows alone: row by row.
void GradientExchange::add_mixed(const ParameterGradient& parameter, PartRange elements, std::byte* sum) {
  const std::size_t width = parameter.width;
  const std::size_t element = parameter.element();
  auto sparse = parameter.sparse.begin();
  for (std::size_t begin = elements.begin; begin < elements.end;) {
    const std::size_t row = begin / width;
    const std::size_t end = std::min(elements.end, (row + 1) * width);
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      const std::byte* dense = parameter.dense[leaf];
      addends_[leaf] = dense == nullptr ? nullptr : dense + (begin - elements.begin) * element;
    }
    while (sparse != parameter.sparse.end() && sparse->row < row) ++sparse;
    for (; sparse != parameter.sparse.end() && sparse->row == row; ++sparse)
      addends_[sparse->leaf] = sparse->values + (begin - row * width) * element;
    fold(parameter, end - begin, sum + (begin - elements.begin) * element);
    begin = end;
  }
}

void GradientExchange::fold(const ParameterGradient& parameter, std::size_t width, std::byte* sum) {
  const std::byte* all = fold(parameter, {0, parts_}, width, sum);
  const std::size_t bytes = width * parameter.element();
  if (all == nullptr) {
    std::memset(sum, 0, bytes);
  } else if (all != sum && width > 0) {
    std::memcpy(sum, all, bytes);
  }
}

std::size_t GradientExchange::first_leaf(PartRange parts) const {
  const auto first =
      std::ranges::lower_bound(leaves_, parts.begin, {}, [](const Leaf& leaf) { return leaf.parts.begin; });
  return static_cast<std::size_t>(first - leaves_.begin());
}

std::byte* GradientExchange::scratch(std::size_t leaf, std::size_t bytes) {
  std::vector<double>& scratch = scratch_[leaf];
  if (scratch.size() * sizeof(double) < bytes) scratch.resize((bytes + sizeof(double) - 1) / sizeof(double));
  return reinterpret_cast<std::byte*>(scratch.data());
}

/// Adds as Gradients::add does it for one process: what the right side has not is not added; what the left
/// side has not is zero. Gives null where neither has any, and otherwise an addend or `room`, where sums are
/// made.
const std::byte* GradientExchange::fold(const ParameterGradient& parameter, PartRange parts,
                                        std::size_t width, std::byte* room) {
  const std::size_t index = first_leaf(parts);
  if (leaves_[index].parts == parts) return addends_[index];
  const std::size_t bytes = width * parameter.element();
  const PartRange on_left{parts.begin, parts.begin + parts_on_left(parts.size())};
  const PartRange on_right{on_left.end, parts.end};
  const std::byte* left = fold(parameter, on_left, width, room);
  const std::size_t right_index = first_leaf(on_right);
  const bool is_leaf = leaves_[right_index].parts == on_right;
  const std::byte* right =
      is_leaf ? addends_[right_index] : fold(parameter, on_right, width, scratch(right_index, bytes));
  if (right == nullptr) return left;
  if (left == nullptr) {
    std::memset(room, 0, bytes);
    left = room;
  }
  add(parameter.dtype, width, left, right, room);
  return room;
}

double GradientExchange::squares(std::size_t parameter) const {
  const ParameterGradient& gradient = parameters_[parameter];
  if (!gradient.has_rows()) return std::accumulate(gradient.squares.begin(), gradient.squares.end(), 0.0);
  std::vector<RowSquares> all;
  for (const std::vector<RowSquares>& of_process : gradient.row_squares) {
    const auto middle = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), of_process.begin(), of_process.end());
    std::ranges::inplace_merge(all, all.begin() + middle, {}, &RowSquares::row);
  }
  double sum = 0;
  for (const RowSquares& one : all) sum += one.squares;
  return sum;
}

}  // namespace hiaton::train
