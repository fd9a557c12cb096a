#include "train/gradient_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "base/check.h"
#include "kernels/elementwise.h"
#include "train/gradient.h"
#include "train/update_loops.h"

namespace hiaton::train {
namespace {

/// The pieces of squares of these elements, which begin with one.
PartRange pieces_in(PartRange elements) {
  return {elements.begin / kSquaresPiece, pieces_of(elements.end)};
}

bool are_small(const Tensor& values, std::size_t begin, std::size_t count) {
  constexpr double kSmall = 1e30;
  if (values.dtype() == DType::F64) return are_within(values.data<double>() + begin, count, kSmall);
  return are_within(values.data<float>() + begin, count, static_cast<float>(kSmall));
}

/// Whether no element is so large that a sum of many of them, or a square of it, might not be finite.
bool is_small(const Gradients::Sum& sum) {
  const std::size_t rows = static_cast<std::size_t>(sum.values.dims()[0]);
  const std::size_t width = rows == 0 ? 0 : static_cast<std::size_t>(sum.values.size()) / rows;
  if (sum.dense) return are_small(sum.values, 0, rows * width);
  return std::ranges::all_of(sum.rows, [&](int64_t row) {
    return are_small(sum.values, static_cast<std::size_t>(row) * width, width);
  });
}

const std::byte* read_elements(net::ByteReader& in, std::size_t count, std::size_t element) {
  in.align(element);
  return in.take(count * element);
}

void write_elements(const std::byte* values, std::size_t count, std::size_t element, net::ByteWriter& out) {
  constexpr std::size_t kWorthBorrowing = 256;
  const std::size_t bytes = count * element;
  out.align(element);
  if (bytes >= kWorthBorrowing) return out.borrow(values, bytes);
  out.raw(values, bytes);
}

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

GradientExchange::GradientExchange(std::size_t parts, std::size_t processes, std::size_t self,
                                   Gradients& sums, std::size_t group,
                                   std::span<const std::optional<int>> holders,
                                   std::span<const DividedBy> divided)
    : processes_(processes), self_(self), group_(group), holders_(holders), parts_(parts), sums_(sums) {
  for (std::size_t process = 0; process < processes; ++process) {
    for (const PartRange subtree : whole_subtrees(parts, owned_parts(process, processes, group, parts)))
      leaves_.push_back({process, subtree});
  }
  is_early_.resize(sums.size());
  addends_.resize(leaves_.size());
  scratch_.resize(leaves_.size());
  rows_to_.resize(processes);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto rows = static_cast<std::size_t>(sums[i].values.dims()[0]);
    const auto size = static_cast<std::size_t>(sums[i].values.size());
    const std::size_t width = rows == 0 ? 0 : size / rows;
    parameters_.push_back({.dtype = sums[i].values.dtype(),
                           .rows = rows,
                           .width = width,
                           .dense = std::vector<const std::byte*>(leaves_.size()),
                           .sparse = {},
                           .divided = divided.empty() ? DividedBy::Nothing : divided[i]});
    if (parameters_.back().has_rows()) parameters_.back().row_squares.resize(processes);
  }
}

bool GradientExchange::is_added_by_all(const ParameterGradient& parameter) const {
  return parameter.divided == DividedBy::Nothing && group_ == 1 &&
         (sends_whole() || parameter.size() < kLeastDivided);
}

/// Whether there is a gradient that is not divided, and of which each process adds up some elements.
bool GradientExchange::has_ranges() const {
  return std::ranges::any_of(parameters_, [this](const ParameterGradient& one) {
    return one.is_dense && one.divided == DividedBy::Nothing && !is_added_by_all(one);
  });
}

PartRange GradientExchange::elements_of(std::size_t process, const ParameterGradient& parameter) const {
  if (is_added_by_all(parameter)) return {0, parameter.size()};
  return elements_of_process(process, processes_, group_, parameter.size());
}

void GradientExchange::write_form(Form form, std::size_t index, std::span<net::ByteWriter> out) const {
  for (std::size_t to = 0; to < processes_; ++to) {
    if (to != self_ && gets(to, index)) out[to].number(static_cast<uint8_t>(form));
  }
}

/// What stands behind the form.
void GradientExchange::write_values(const Gradients::Sum& sum, std::size_t index,
                                    std::span<net::ByteWriter> out) {
  const ParameterGradient& parameter = parameters_[index];
  const std::size_t element = parameter.element();
  const auto* values = sum.values.data<std::byte>();
  if (parameter.has_rows()) {
    for (std::vector<int64_t>& rows : rows_to_) rows.clear();
    for (const int64_t row : sum.rows)
      rows_to_[process_of_row(static_cast<std::size_t>(row), processes_)].push_back(row);
  }
  for (std::size_t to = 0; to < processes_; ++to) {
    if (to == self_ || !gets(to, index)) continue;
    if (sum.dense) {
      const PartRange elements = elements_of(to, parameter);
      write_elements(values + elements.begin * element, elements.size(), element, out[to]);
      continue;
    }
    const std::vector<int64_t>& rows = parameter.has_rows() ? rows_to_[to] : sum.rows;
    out[to].compact(rows.size());
    for (const int64_t row : rows) out[to].compact(static_cast<uint64_t>(row));
    for (const int64_t row : rows)
      write_elements(values + static_cast<std::size_t>(row) * parameter.width * element, parameter.width,
                     element, out[to]);
  }
}

void GradientExchange::write_early(const Gradients& sums, std::size_t parameter,
                                   std::span<net::ByteWriter> out) {
  write_form(form_of(sums[parameter]), parameter, out);
  for (net::ByteWriter& to : out) to.align(kEarlyElements);
  write_values(sums[parameter], parameter, out);
}

void GradientExchange::begin_early_dense(std::span<std::byte> message) {
  std::ranges::fill(message.first(kEarlyElements), std::byte{});
  message[0] = static_cast<std::byte>(Form::Whole);
}

std::size_t GradientExchange::early_bytes(const Gradients::Sum& sum, std::size_t parameter) const {
  const ParameterGradient& gradient = parameters_[parameter];
  return (sum.dense ? gradient.rows : sum.rows.size()) * gradient.width * gradient.element();
}

void GradientExchange::write_parts(std::span<const SubtreeSum> own, std::span<net::ByteWriter> out) {
  for (const SubtreeSum& subtree : own) {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      are_small_ = are_small_ && is_small((*subtree.sums)[i]);
  }
  for (net::ByteWriter& to : out) to.number(static_cast<uint8_t>(are_small_ ? 1 : 0));
  for (const SubtreeSum& subtree : own) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Gradients::Sum& sum = (*subtree.sums)[i];
      write_form(is_early_[i] ? Form::Early : form_of(sum), i, out);
      if (!is_early_[i]) write_values(sum, i, out);
    }
  }
}

void GradientExchange::read_parameter(std::size_t leaf, std::size_t index, Form form, net::ByteReader& in) {
  ParameterGradient& parameter = parameters_[index];
  if (form == Form::Sparse) return read_rows(leaf, parameter, in);
  if (parameter.has_rows())
    in.fail(fmt::format("expected a sparse gradient, found form {}", static_cast<unsigned>(form)));
  parameter.is_dense = true;
  if (form == Form::Dense) {
    parameter.dense[leaf] = read_elements(in, elements_of(self_, parameter).size(), parameter.element());
  } else if (form == Form::Whole) {
    parameter.dense[leaf] = read_elements(in, parameter.size(), parameter.element()) +
                            elements_of(self_, parameter).begin * parameter.element();
  } else {
    in.fail(fmt::format("expected a dense or a sparse gradient, found form {}", static_cast<unsigned>(form)));
  }
}

void GradientExchange::read_parts(std::size_t from, net::ByteReader& in) {
  are_small_ &= in.number<uint8_t>() != 0;
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (leaves_[leaf].process != from) continue;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!gets(self_, i)) continue;
      const auto form = static_cast<Form>(in.number<uint8_t>());
      if (form == Form::Early) {
        ++early_to_come_;
      } else {
        read_parameter(leaf, i, form, in);
      }
    }
  }
}

void GradientExchange::read_early(std::size_t from, std::size_t parameter, net::ByteReader& in) {
  const auto leaf = std::ranges::find(leaves_, from, &Leaf::process);
  if (leaf == leaves_.end() || parameter >= parameters_.size() || !gets(self_, parameter) ||
      early_to_come_ == 0)
    in.fail("expected a gradient that was told of, found another one");
  --early_to_come_;
  const auto form = static_cast<Form>(in.number<uint8_t>());
  in.align(kEarlyElements);
  read_parameter(static_cast<std::size_t>(leaf - leaves_.begin()), parameter, form, in);
  in.require_end();
}

void GradientExchange::take_own(std::span<const SubtreeSum> own) {
  auto subtree = own.begin();
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (leaves_[leaf].process != self_) continue;
    const Gradients& sums = *(subtree++)->sums;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      ParameterGradient& parameter = parameters_[i];
      const auto* values = sums[i].values.data<std::byte>();
      if (sums[i].dense) {
        HIATON_CHECK(!parameter.has_rows());
        parameter.is_dense = true;
        parameter.dense[leaf] = values + elements_of(self_, parameter).begin * parameter.element();
        continue;
      }
      for (const int64_t row : sums[i].rows) {
        const auto number = static_cast<std::size_t>(row);
        if (parameter.has_rows() && process_of_row(number, processes_) != self_) continue;
        parameter.sparse.push_back({number, leaf, values + number * parameter.width * parameter.element()});
      }
    }
  }
}

void GradientExchange::read_rows(std::size_t leaf, ParameterGradient& parameter, net::ByteReader& in) {
  const uint64_t count = in.compact();
  if (count > parameter.rows)
    in.fail(fmt::format("expected at most {} rows, found {}", parameter.rows, count));
  const std::size_t begin = parameter.sparse.size();
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t row = in.compact();
    if (row >= parameter.rows) in.fail(fmt::format("expected a row below {}, found {}", parameter.rows, row));
    if (parameter.has_rows() && process_of_row(row, processes_) != self_)
      in.fail(fmt::format("expected rows that process {} adds up, found row {}", self_, row));
    parameter.sparse.push_back({static_cast<std::size_t>(row), leaf, nullptr});
  }
  for (std::size_t i = begin; i < parameter.sparse.size(); ++i)
    parameter.sparse[i].values = read_elements(in, parameter.width, parameter.element());
}

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

bool GradientExchange::has_divided() const {
  return std::ranges::any_of(parameters_, &ParameterGradient::is_divided);
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

/// Calls `act` with each parameter of which process `from` tells process `to` something once it has added up,
/// and the elements that this is about.
template <class Act>
void GradientExchange::for_each_sum(std::size_t from, std::size_t to, const Act& act) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterGradient& parameter = parameters_[i];
    if (!gets(to, i) || is_added_by_all(parameter) || !(parameter.is_dense || parameter.has_rows())) continue;
    const PartRange elements = parameter.has_rows() ? PartRange() : elements_of(from, parameter);
    if (elements.size() > 0 || parameter.has_rows()) act(i, elements);
  }
}

void GradientExchange::write_sums(std::size_t to, net::ByteWriter& out) const {
  for_each_sum(self_, to, [&](std::size_t i, PartRange elements) {
    const ParameterGradient& parameter = parameters_[i];
    if (parameter.has_rows()) return write_row_squares(parameter, out);
    if (parameter.is_divided()) {
      const PartRange pieces = pieces_in(elements);
      const std::span own = std::span(parameter.squares).subspan(pieces.begin, pieces.size());
      return write_elements(std::as_bytes(own).data(), own.size(), sizeof(double), out);
    }
    const std::byte* values = sums_[i].values.data<std::byte>() + elements.begin * parameter.element();
    write_elements(values, elements.size(), parameter.element(), out);
  });
}

void GradientExchange::read_sums(std::size_t from, net::ByteReader& in) {
  for_each_sum(from, self_, [&](std::size_t i, PartRange elements) {
    ParameterGradient& parameter = parameters_[i];
    if (parameter.has_rows()) return read_row_squares(from, parameter, in);
    const auto read_to = [&in](std::byte* to, std::size_t count, std::size_t element) {
      std::memcpy(to, read_elements(in, count, element), count * element);
    };
    if (parameter.is_divided()) {
      const PartRange pieces = pieces_in(elements);
      const std::span others = std::span(parameter.squares).subspan(pieces.begin, pieces.size());
      return read_to(std::as_writable_bytes(others).data(), others.size(), sizeof(double));
    }
    auto* sums = sums_.values(i).mutable_data<std::byte>();
    read_to(sums + elements.begin * parameter.element(), elements.size(), parameter.element());
  });
}

/// The rows whose sums this process has, and their squares.
void GradientExchange::write_row_squares(const ParameterGradient& parameter, net::ByteWriter& out) const {
  const std::vector<RowSquares>& own = parameter.row_squares[self_];
  out.compact(own.size());
  for (const RowSquares& one : own) out.compact(one.row);
  for (const RowSquares& one : own) out.number(one.squares);
}

void GradientExchange::read_row_squares(std::size_t from, ParameterGradient& parameter, net::ByteReader& in) {
  std::vector<RowSquares>& others = parameter.row_squares[from];
  const uint64_t count = in.compact();
  if (count > parameter.rows)
    in.fail(fmt::format("expected the squares of at most {} rows, found {}", parameter.rows, count));
  std::size_t least = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t row = in.compact();
    if (row < least || row >= parameter.rows || process_of_row(row, processes_) != from)
      in.fail(fmt::format("expected rows of process {} in increasing order, found row {}", from, row));
    least = row + 1;
    others.push_back({static_cast<std::size_t>(row), 0});
  }
  for (RowSquares& one : others) one.squares = in.number<double>();
}

void GradientExchange::write_updates(const std::vector<ParameterValues>& parameters,
                                     net::ByteWriter& out) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!is_divided(i)) continue;
    const ParameterGradient& parameter = parameters_[i];
    const std::size_t element = parameter.element();
    const std::byte* values = parameters[i].values.bytes().data();
    if (parameter.has_rows()) {
      for (const RowSquares& one : parameter.row_squares[self_])
        write_elements(values + one.row * parameter.width * element, parameter.width, element, out);
      continue;
    }
    const PartRange elements = elements_of(self_, parameter);
    write_elements(values + elements.begin * element, elements.size(), element, out);
  }
}

void GradientExchange::read_updates(std::size_t from, std::vector<ParameterValues>& parameters,
                                    net::ByteReader& in) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!is_divided(i)) continue;
    const ParameterGradient& parameter = parameters_[i];
    const std::size_t element = parameter.element();
    std::byte* const values = parameters[i].values.bytes().data();
    const auto read = [&](PartRange elements) {
      const std::byte* found = read_elements(in, elements.size(), element);
      if (elements.size() > 0)
        std::memcpy(values + elements.begin * element, found, elements.size() * element);
    };
    if (!parameter.has_rows()) {
      read(elements_of(from, parameter));
      continue;
    }
    for (const RowSquares& one : parameter.row_squares[from])
      read({one.row * parameter.width, (one.row + 1) * parameter.width});
  }
}

}  // namespace hiaton::train
