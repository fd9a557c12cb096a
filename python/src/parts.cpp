// Parts of tensors by keys of Python. Those whose elements are contiguous share the memory.
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include "hiaton/apply.h"
#include "tensors.h"

namespace hiaton::python {
namespace {

struct Axis {
  int64_t size;
  int64_t stride;  ///< in elements
};

/// The part that a key describes: where it begins, and its axes.
struct Part {
  int64_t offset = 0;
  std::vector<Axis> axes;

  int64_t size() const {
    int64_t product = 1;
    for (const Axis& axis : axes) product *= axis.size;
    return product;
  }
  bool is_contiguous() const {
    int64_t expected = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (axes[i].size != 1 && axes[i].stride != expected) return false;
      expected *= axes[i].size;
    }
    return true;
  }
};

std::vector<Axis> axes_of(const EagerTensor& tensor) {
  std::vector<Axis> axes;
  int64_t stride = 1;
  for (std::size_t i = tensor.dims().size(); i-- > 0;) {
    axes.insert(axes.begin(), {tensor.dims()[i], stride});
    stride *= tensor.dims()[i];
  }
  return axes;
}

std::vector<nb::object> keys_of(nb::handle key) {
  std::vector<nb::object> keys;
  if (!PyTuple_Check(key.ptr())) return {nb::borrow(key)};
  for (nb::handle one : nb::borrow<nb::tuple>(key)) keys.push_back(nb::borrow(one));
  return keys;
}

void take_one(const Axis& axis, nb::handle key, Part& part) {
  const Py_ssize_t given = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
  if (given == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  const int64_t index = given < 0 ? given + axis.size : given;
  if (index < 0 || index >= axis.size) {
    const std::string text = "expected an index from " + std::to_string(-axis.size) + " to " +
                             std::to_string(axis.size - 1) + ", found " + std::to_string(given);
    throw nb::index_error(text.c_str());
  }
  part.offset += index * axis.stride;
}

void take_slice(const Axis& axis, nb::handle key, Part& part) {
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 0;
  if (PySlice_Unpack(key.ptr(), &start, &stop, &step) < 0) nb::raise_python_error();
  const Py_ssize_t size = PySlice_AdjustIndices(axis.size, &start, &stop, step);
  if (size > 0) part.offset += start * axis.stride;
  part.axes.push_back({size, axis.stride * step});
}

Part part_by(const std::vector<Axis>& axes, const std::vector<nb::object>& keys) {
  std::size_t used = 0;
  bool rest = false;
  for (const nb::object& key : keys) {
    if (key.ptr() == Py_Ellipsis) {
      if (rest) throw nb::index_error("expected '...' once");
      rest = true;
    } else if (!key.is_none()) {
      ++used;
    }
  }
  if (used > axes.size()) {
    const std::string text =
        "expected at most " + std::to_string(axes.size()) + " indices, found " + std::to_string(used);
    throw nb::index_error(text.c_str());
  }
  Part part;
  std::size_t next = 0;
  const auto pass = [&](std::size_t count) {
    for (; count > 0; --count) part.axes.push_back(axes[next++]);
  };
  for (const nb::object& key : keys) {
    if (key.ptr() == Py_Ellipsis) {
      pass(axes.size() - used);
    } else if (key.is_none()) {
      part.axes.push_back({1, 0});
    } else if (PySlice_Check(key.ptr())) {
      take_slice(axes[next++], key, part);
    } else if (PyIndex_Check(key.ptr()) && !PyBool_Check(key.ptr())) {
      take_one(axes[next++], key, part);
    } else {
      throw nb::index_error(
          "expected integers, slices, '...', None, or one tensor of row numbers as the only index");
    }
  }
  pass(axes.size() - next);
  return part;
}

void copy_elements(const std::byte*& from_start, std::byte*& to, const std::vector<Axis>& axes,
                   std::size_t element) {
  std::vector<int64_t> at(axes.size(), 0);
  const std::byte* from = from_start;
  while (true) {
    std::memcpy(to, from, element);
    to += element;
    std::size_t i = axes.size();
    while (i-- > 0) {
      from += axes[i].stride * static_cast<int64_t>(element);
      if (++at[i] < axes[i].size) break;
      from -= axes[i].size * axes[i].stride * static_cast<int64_t>(element);
      at[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return;
  }
}

Value value_of(const EagerTensor& tensor, const Part& part) {
  const DType dtype = tensor.value.dtype();
  const std::size_t element = size_of(dtype);
  const std::byte* from = tensor.elements() + part.offset * static_cast<int64_t>(element);
  if (part.axes.empty()) {
    Slot slot;
    std::memcpy(&slot, from, element);
    return {dtype, slot};
  }
  if (part.axes.size() > kMaxRank) throw nb::index_error("expected at most 8 dimensions");
  std::vector<int64_t> dims;
  for (const Axis& axis : part.axes) dims.push_back(axis.size);
  if (tensor.value.is_tensor() && part.is_contiguous() && part.size() > 0) {
    return Tensor(dtype, dims, const_cast<std::byte*>(from), std::make_shared<Tensor>(tensor.value.tensor()));
  }
  Tensor made(dtype, dims);
  std::byte* to = made.mutable_data<std::byte>();
  if (made.size() > 0) copy_elements(from, to, part.axes, element);
  return made;
}

/// A tensor of row numbers, or nothing.
std::optional<Value> rows_in(nb::handle key) {
  if (PyTuple_Check(key.ptr()) || PySlice_Check(key.ptr()) || PyLong_Check(key.ptr()) || key.is_none())
    return std::nullopt;
  EagerTensor* tensor = nullptr;
  if (nb::try_cast(key, tensor) && tensor != nullptr) return tensor->value;
  return array_operand(key);
}

/// The same part by operations, which tapes see: of all elements in a row.
EagerTensor marked_part(const EagerTensor& tensor, const Part& part) {
  const auto apply = [](std::string_view name, std::span<const EagerTensor> operands,
                        std::span<const int64_t> attributes) {
    return apply_eager(*catalog().find(name), operands, attributes);
  };
  const std::array all = {tensor.size()};
  const EagerTensor flat = apply("reshape", {&tensor, 1}, all);
  if (part.axes.empty()) return apply("gather", std::array{flat, EagerTensor{Value(part.offset)}}, {});
  std::vector<int64_t> dims;
  for (const Axis& axis : part.axes) dims.push_back(axis.size);
  EagerTensor found;
  if (part.is_contiguous()) {
    found = apply("slice", {&flat, 1}, std::array{int64_t{0}, part.offset, part.size()});
  } else {
    // The places of the elements: the same part of all places.
    Tensor places(DType::I64, tensor.dims());
    std::iota(places.mutable_data<int64_t>(), places.mutable_data<int64_t>() + places.size(), int64_t{0});
    const EagerTensor of_part = {value_of({Value(std::move(places))}, part)};
    const std::array count = {part.size()};
    found = apply("gather", std::array{flat, apply("reshape", {&of_part, 1}, count)}, {});
  }
  return apply("reshape", {&found, 1}, dims);
}

}  // namespace

EagerTensor part_of(const EagerTensor& tensor, nb::handle key) {
  const std::optional<Value> rows = rows_in(key);
  if (!rows || !rows->is_tensor()) {
    const Part part = part_by(axes_of(tensor), keys_of(key));
    const bool is_seen = tensor.mark != 0 && tapes_run() && part.size() > 0;
    return is_seen ? marked_part(tensor, part) : EagerTensor{value_of(tensor, part)};
  }
  const std::array operands = {
      tensor,
      EagerTensor{is_integer(rows->dtype()) ? apply_operation(*catalog().find("i64"), {&*rows, 1}) : *rows}};
  return apply_eager(*catalog().find("gather"), operands);
}

}  // namespace hiaton::python
