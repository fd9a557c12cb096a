#include "train/gradient_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "kernels/elementwise.h"
#include "train/gradient.h"

namespace hiaton::train {
namespace {

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
                           .pieces = Pieces(rows, width),
                           .dense = std::vector<const std::byte*>(leaves_.size()),
                           .sparse = {},
                           .divided = divided.empty() ? DividedBy::Nothing : divided[i]});
    if (parameters_.back().has_rows()) parameters_.back().row_squares.resize(processes);
  }
}

PartRange GradientExchange::elements_of(std::size_t process, const ParameterGradient& parameter) const {
  if (!adds_ranges() && parameter.divided == DividedBy::Nothing) return {0, parameter.size()};
  return elements_of_process(process, processes_, group_, parameter.pieces);
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
  if (!sum.dense && parameter.has_rows()) {
    for (std::vector<int64_t>& rows : rows_to_) rows.clear();
    for (const int64_t row : sum.rows)
      rows_to_[process_of_row(static_cast<std::size_t>(row), processes_, parameter.pieces)].push_back(row);
  }
  for (std::size_t to = 0; to < processes_; ++to) {
    if (to == self_ || !gets(to, index)) continue;
    if (sum.dense) {
      write_dense(sum, index, to, out[to]);
      continue;
    }
    const std::vector<int64_t>& rows = parameter.has_rows() ? rows_to_[to] : sum.rows;
    out[to].compact(rows.size());
    for (const int64_t row : rows) out[to].compact(static_cast<uint64_t>(row));
    const std::size_t bytes = parameter.width * parameter.element();
    const auto* values = sum.values.data<std::byte>();
    for (const int64_t row : rows)
      write_elements(values + static_cast<std::size_t>(row) * bytes, parameter.width, parameter.element(),
                     out[to]);
  }
}

/// The elements that process `to` adds up.
void GradientExchange::write_dense(const Gradients::Sum& sum, std::size_t index, std::size_t to,
                                   net::ByteWriter& out) const {
  const ParameterGradient& parameter = parameters_[index];
  const auto write = [&](PartRange elements) {
    write_elements(sum.values.data<std::byte>() + elements.begin * parameter.element(), elements.size(),
                   parameter.element(), out);
  };
  if (!parameter.has_rows()) return write(elements_of(to, parameter));
  for_each_owned_range(DividedBy::Rows, to, processes_, parameter.pieces, write);
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
  parameter.is_dense = true;
  if (parameter.has_rows() && form == Form::Dense) {
    read_owned_rows(leaf, parameter, in);
  } else if (parameter.has_rows() && form == Form::Whole) {
    push_owned_rows(leaf, parameter, read_elements(in, parameter.size(), parameter.element()));
  } else if (form == Form::Dense) {
    parameter.dense[leaf] = read_elements(in, elements_of(self_, parameter).size(), parameter.element());
  } else if (form == Form::Whole) {
    parameter.dense[leaf] = read_elements(in, parameter.size(), parameter.element()) +
                            elements_of(self_, parameter).begin * parameter.element();
  } else {
    in.fail(fmt::format("expected a dense or a sparse gradient, found form {}", static_cast<unsigned>(form)));
  }
}

void GradientExchange::read_parts(std::size_t from, net::ByteReader& in) {
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
        parameter.is_dense = true;
        if (parameter.has_rows()) {
          push_owned_rows(leaf, parameter, values);
          continue;
        }
        parameter.dense[leaf] = values + elements_of(self_, parameter).begin * parameter.element();
        continue;
      }
      for (const int64_t row : sums[i].rows) {
        const auto number = static_cast<std::size_t>(row);
        if (parameter.has_rows() && process_of_row(number, processes_, parameter.pieces) != self_) continue;
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
    if (parameter.has_rows() && process_of_row(row, processes_, parameter.pieces) != self_)
      in.fail(fmt::format("expected rows that process {} adds up, found row {}", self_, row));
    parameter.sparse.push_back({static_cast<std::size_t>(row), leaf, nullptr});
  }
  for (std::size_t i = begin; i < parameter.sparse.size(); ++i)
    parameter.sparse[i].values = read_elements(in, parameter.width, parameter.element());
}

/// A dense gradient of which only the elements of this process have come.
void GradientExchange::read_owned_rows(std::size_t leaf, ParameterGradient& parameter, net::ByteReader& in) {
  const auto read = [&](PartRange elements) {
    const std::byte* values = read_elements(in, elements.size(), parameter.element());
    for (std::size_t begin = elements.begin; begin < elements.end; begin += parameter.width)
      parameter.sparse.push_back(
          {begin / parameter.width, leaf, values + (begin - elements.begin) * parameter.element()});
  };
  for_each_owned_range(DividedBy::Rows, self_, processes_, parameter.pieces, read);
}

/// A dense gradient all of whose elements stand at `values`.
void GradientExchange::push_owned_rows(std::size_t leaf, ParameterGradient& parameter,
                                       const std::byte* values) {
  const auto push = [&](PartRange elements) {
    for (std::size_t begin = elements.begin; begin < elements.end; begin += parameter.width)
      parameter.sparse.push_back({begin / parameter.width, leaf, values + begin * parameter.element()});
  };
  for_each_owned_range(DividedBy::Rows, self_, processes_, parameter.pieces, push);
}

void GradientExchange::add_up() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    std::vector<Row>& rows = parameters_[i].sparse;
    std::ranges::sort(rows, {}, [](const Row& row) { return std::tuple(row.row, row.leaf); });
    if (parameters_[i].has_rows()) {
      add_rows(i);
      add_squares_of_rows(i);
    } else if (parameters_[i].is_dense) {
      add_elements(i);
      if (parameters_[i].is_divided()) add_squares(i);
    } else {
      add_rows(i);
    }
  }
}

/// Adds up the rows of a parameter whose gradient is sparse in all subtrees, or that is divided by rows.
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
  const PartRange pieces = owned_parts(self_, processes_, group_, parameter.pieces.count());
  std::vector<double> own;
  append_squares(parameter.dtype, sums_[index].values.data<std::byte>(), parameter.pieces, pieces, own);
  parameter.squares.resize(parameter.pieces.count());
  std::ranges::copy(own, parameter.squares.begin() + static_cast<std::ptrdiff_t>(pieces.begin));
}

/// A dense sum has those of its pieces, as one process alone has.
void GradientExchange::add_squares_of_rows(std::size_t index) {
  ParameterGradient& parameter = parameters_[index];
  const std::byte* sums = sums_[index].values.data<std::byte>();
  std::vector<RowSquares>& own = parameter.row_squares[self_];
  if (!parameter.is_dense) {
    const std::size_t bytes = parameter.width * parameter.element();
    for (const int64_t row : sums_[index].rows) {
      const auto number = static_cast<std::size_t>(row);
      own.push_back({number, squares_of(parameter.dtype, sums + number * bytes, parameter.width)});
    }
    return;
  }
  std::vector<double> squares;
  for (std::size_t group = self_; group < parameter.pieces.groups(); group += processes_) {
    squares.clear();
    append_squares(parameter.dtype, sums, parameter.pieces, parameter.pieces.of_group(group), squares);
    for (const double one : squares) own.push_back({group * parameter.pieces.rows_of_group(), one});
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
    if (!gets(to, i)) continue;
    if (parameter.has_rows()) {
      act(i, PartRange());
    } else if (parameter.is_dense && (parameter.is_divided() || adds_ranges())) {
      const PartRange elements = elements_of(from, parameter);
      if (elements.size() > 0) act(i, elements);
    }
  }
}

/// Calls act(row) with each row of a parameter divided by rows that the process updates, in order.
template <class Act>
void GradientExchange::for_each_updated_row(std::size_t process, const ParameterGradient& parameter,
                                            const Act& act) const {
  if (!parameter.is_dense) {
    for (const RowSquares& one : parameter.row_squares[process]) act(one.row);
    return;
  }
  for_each_owned_range(DividedBy::Rows, process, processes_, parameter.pieces, [&](PartRange elements) {
    for (std::size_t begin = elements.begin; begin < elements.end; begin += parameter.width)
      act(begin / parameter.width);
  });
}

void GradientExchange::write_sums(std::size_t to, net::ByteWriter& out) const {
  for_each_sum(self_, to, [&](std::size_t i, PartRange elements) {
    const ParameterGradient& parameter = parameters_[i];
    if (parameter.has_rows()) return write_row_squares(parameter, out);
    if (parameter.is_divided()) {
      const PartRange pieces = owned_parts(self_, processes_, group_, parameter.pieces.count());
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
      const PartRange pieces = owned_parts(from, processes_, group_, parameter.pieces.count());
      const std::span others = std::span(parameter.squares).subspan(pieces.begin, pieces.size());
      return read_to(std::as_writable_bytes(others).data(), others.size(), sizeof(double));
    }
    auto* sums = sums_.values(i).mutable_data<std::byte>();
    read_to(sums + elements.begin * parameter.element(), elements.size(), parameter.element());
  });
}

/// The rows whose sums this process has, where they are not all of its rows, and the squares.
void GradientExchange::write_row_squares(const ParameterGradient& parameter, net::ByteWriter& out) const {
  const std::vector<RowSquares>& own = parameter.row_squares[self_];
  out.compact(own.size());
  for (const RowSquares& one : own) out.compact(one.row);
  for (const RowSquares& one : own) out.number(one.squares);
}

void GradientExchange::read_row_squares(std::size_t from, ParameterGradient& parameter, net::ByteReader& in) {
  std::vector<RowSquares>& others = parameter.row_squares[from];
  const uint64_t count = in.compact();
  if (count > parameter.pieces.count() + parameter.rows)
    in.fail(fmt::format("expected the squares of at most {} rows, found {}", parameter.rows, count));
  std::size_t least = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t row = in.compact();
    if (row < least || row >= parameter.rows || process_of_row(row, processes_, parameter.pieces) != from)
      in.fail(fmt::format("expected rows of process {} in increasing order, found row {}", from, row));
    least = row;
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
      for_each_updated_row(self_, parameter, [&](std::size_t row) {
        write_elements(values + row * parameter.width * element, parameter.width, element, out);
      });
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
    for_each_updated_row(from, parameter, [&](std::size_t row) {
      read({row * parameter.width, (row + 1) * parameter.width});
    });
  }
}

}  // namespace hiaton::train
