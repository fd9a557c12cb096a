#include "train/gradient_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "tensor/scalar_or_tensor.h"
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
  if (values.dtype() == DType::F64)
    return update_loops<double>().are_within(values.data<double>() + begin, count, kSmall);
  return update_loops<float>().are_within(values.data<float>() + begin, count, static_cast<float>(kSmall));
}

/// Whether no element is so large that a sum of many of them, or a square of it, might not be finite.
bool is_small(const Gradients::Sum& sum) {
  const std::size_t rows = static_cast<std::size_t>(row_count(sum.values));
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

}  // namespace

GradientExchange::GradientExchange(std::size_t parts, std::size_t processes, std::size_t self,
                                   Gradients& sums, std::size_t group,
                                   std::span<const std::optional<int>> holders,
                                   std::span<const DividedBy> divided)
    : processes_(processes),
      self_(self),
      group_(group),
      holders_(holders),
      parts_(parts),
      sums_(sums),
      are_small_(!divided.empty()) {
  for (std::size_t process = 0; process < processes; ++process) {
    for (const PartRange subtree : whole_subtrees(parts, owned_parts(process, processes, group, parts)))
      leaves_.push_back({process, subtree});
  }
  is_early_.resize(sums.size());
  addends_.resize(leaves_.size());
  scratch_.resize(leaves_.size());
  rows_to_.resize(processes);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto rows = static_cast<std::size_t>(row_count(sums[i].values));
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

/// Whether there may be a gradient that is not divided, and of which each process adds up some elements: all
/// of them know the same. In groups of several, not every process gets to know what is dense.
bool GradientExchange::has_ranges() const {
  if (group_ != 1) return true;
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

bool GradientExchange::has_divided() const {
  return std::ranges::any_of(parameters_, &ParameterGradient::is_divided);
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
