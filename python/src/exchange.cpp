// Arrays of NumPy, and of all who know DLPack: memory is shared both ways.
#include <nanobind/ndarray.h>

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "tensors.h"

namespace hiaton::python {
namespace {

using AnyArray = nb::ndarray<nb::ro>;

constexpr uint8_t kBitsOfByte = 8;

constexpr nb::dlpack::dtype dlpack_type(DType dtype) {
  const auto code = dtype == DType::Bool ? nb::dlpack::dtype_code::Bool
                    : dtype == DType::U8 ? nb::dlpack::dtype_code::UInt
                    : is_integer(dtype)  ? nb::dlpack::dtype_code::Int
                                         : nb::dlpack::dtype_code::Float;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(kBitsOfByte * size_of(dtype)), 1};
}

DType dtype_of_array(const AnyArray& array) {
  for (const DType dtype : {DType::Bool, DType::U8, DType::I32, DType::I64, DType::F32, DType::F64}) {
    if (array.dtype() == dlpack_type(dtype)) return dtype;
  }
  constexpr std::array<std::string_view, 7> kKinds = {"int",    "uint",    "float", "handle",
                                                      "bfloat", "complex", "bool"};
  const std::size_t code = array.dtype().code;
  const std::string kind = code < kKinds.size() ? std::string(kKinds[code]) : "a type ";
  throw nb::type_error(("expected an array of bool, uint8, int32, int64, float32 or float64, found " + kind +
                        std::to_string(array.dtype().bits) + "; convert it with .astype first")
                           .c_str());
}

bool is_contiguous(const AnyArray& array) {
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    if (array.shape(i) == 0) return true;
  }
  int64_t expected = 1;
  for (std::size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) != 1 && array.stride(i) != expected) return false;
    expected *= static_cast<int64_t>(array.shape(i));
  }
  return true;
}

/// Arrays that tensors have let go of on threads without the interpreter's lock: they are released by the
/// next one that has it.
class Released {
 public:
  static void add(AnyArray array) {
    if (Py_IsInitialized() == 0) {
      new AnyArray(std::move(array));  // there is nobody left to give it back to
      return;
    }
    if (PyGILState_Check() != 0) return;
    {
      const std::lock_guard lock(mutex());
      waiting().push_back(std::move(array));
    }
    // Where the queue of the interpreter is full, the next one that is added takes all with it.
    Py_AddPendingCall(
        [](void*) {
          drain();
          return 0;
        },
        nullptr);
  }

 private:
  static void drain() {
    std::deque<AnyArray> taken;
    {
      const std::lock_guard lock(mutex());
      taken.swap(waiting());
    }
  }
  // Never destroyed: tensors may outlive the module.
  static std::mutex& mutex() {
    static auto& made = *new std::mutex;
    return made;
  }
  static std::deque<AnyArray>& waiting() {
    static auto& made = *new std::deque<AnyArray>;
    return made;
  }
};

std::shared_ptr<const void> owner_of(AnyArray array) {
  return {new AnyArray(std::move(array)), [](AnyArray* held) {
            Released::add(std::move(*held));
            delete held;
          }};
}

Value scalar_at(DType dtype, const std::byte* place) {
  Slot slot;
  std::memcpy(&slot, place, size_of(dtype));
  return {dtype, slot};
}

Value shared(AnyArray array) {
  const DType dtype = dtype_of_array(array);
  if (array.device_type() != nb::device::cpu::value)
    throw nb::value_error("expected an array in main memory");
  auto* elements = static_cast<std::byte*>(const_cast<void*>(array.data()));
  if (array.ndim() == 0) return scalar_at(dtype, elements);
  if (!is_contiguous(array) || reinterpret_cast<uintptr_t>(elements) % size_of(dtype) != 0) {
    throw nb::value_error("expected contiguous elements in row-major order; hiaton.tensor(x) copies them");
  }
  if (array.ndim() > kMaxRank) throw nb::value_error("expected at most 8 dimensions");
  std::vector<int64_t> dims;
  for (std::size_t i = 0; i < array.ndim(); ++i) dims.push_back(static_cast<int64_t>(array.shape(i)));
  return Tensor(dtype, dims, elements, owner_of(std::move(array)));
}

/// The memory of a tensor, kept alive by its Python object.
template <class Array>
Array view_of(nb::handle self) {
  const auto& tensor = *nb::inst_ptr<EagerTensor>(self);
  std::vector<std::size_t> shape(tensor.dims().begin(), tensor.dims().end());
  return Array(tensor.elements(), shape.size(), shape.data(), self, nullptr,
               dlpack_type(tensor.value.dtype()), nb::device::cpu::value);
}

nb::object to_dlpack(nb::handle self, const nb::kwargs& options) {
  const nb::object array = nb::cast(view_of<nb::ndarray<nb::array_api, nb::ro>>(self));
  return array.attr("__dlpack__")(**options);
}

}  // namespace

std::optional<Value> shared_array(nb::handle object) {
  if (!nb::ndarray_check(object)) return std::nullopt;
  AnyArray array;
  if (!nb::try_cast(object, array)) return std::nullopt;
  return shared(std::move(array));
}

std::optional<Value> array_operand(nb::handle object) {
  if (!nb::ndarray_check(object)) return std::nullopt;
  // The order C asks for a copy of what stands otherwise.
  nb::ndarray<nb::ro, nb::c_contig> array;
  if (!nb::try_cast(object, array)) return std::nullopt;
  return shared(AnyArray(std::move(array)));
}

void bind_exchange(nb::module_& m, nb::class_<EagerTensor>& tensor) {
  m.def(
      "shared",
      [](nb::handle array) {
        std::optional<Value> value = shared_array(array);
        if (!value) throw nb::type_error("expected an array of NumPy, or an object with __dlpack__");
        return to_object(std::move(*value));
      },
      nb::arg("array"), "A tensor that shares the memory of an array.");
  tensor
      .def(
          "numpy", [](nb::handle self) { return view_of<nb::ndarray<nb::numpy, nb::ro>>(self); },
          nb::sig("def numpy(self) -> numpy.ndarray"), "A read-only array of NumPy that shares the memory.")
      .def("__dlpack__", &to_dlpack)
      .def("__dlpack_device__", [](nb::handle) { return nb::make_tuple(nb::device::cpu::value, 0); });
}

}  // namespace hiaton::python
