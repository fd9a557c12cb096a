// Objects of Python as values of a graph.
#include <algorithm>
#include <array>
#include <utility>

#include "graphs.h"

namespace hiaton::python {
namespace {

constexpr std::size_t kUsualDepth = 32;

/// What stands for a part that is not there.
Slot default_of(const Type& type) {
  if (type.is_tensor()) {
    std::vector<int64_t> dims;
    for (const Dim& dim : type.shape) dims.push_back(dim.size < 0 ? 1 : dim.size);
    return Value(Tensor(type.dtype, dims)).detach();
  }
  return blank_of(type);
}

/// The value that owns what the slot refers to.
Value value_of(const Type& type, Slot slot) {
  if (type.is_data()) return Data::adopt(slot.data);
  if (type.is_tensor()) return Tensor::adopt(slot.tensor);
  return {type.dtype, slot};
}

Slot slot_of(const Value& scalar) {
  return scalar.slot();
}

[[noreturn]] void miss(const char* reason, PyObject* object, bool is_of_type = false) {
  throw Snapshot::Miss{reason, nb::borrow(object), is_of_type};
}

int64_t integer_in(PyObject* object) {
  int64_t n = 0;
  if (!read_integer(object, n)) miss("an integer that does not fit 64 bits", object);
  return n;
}

PyObject* found_in(const nb::object& dict, PyObject* key) {
  PyObject* const found = PyDict_GetItemWithError(dict.ptr(), key);
  if (found == nullptr && PyErr_Occurred() != nullptr) nb::raise_python_error();
  return found;
}

}  // namespace

/// A value that is being read: its parts become slots, from the first to the last.
struct Snapshot::Reading {
  enum class Kind : uint8_t { Union, Tuple, Dict, Object, List, Box };
  Kind kind;
  bool may_be_shared = false;  ///< Object
  const Plan* plan = nullptr;  ///< Box: of the element
  nb::object held{};           ///< reading an attribute may run code, which may drop it elsewhere
  std::size_t next = 0;   ///< the number of the part to be read next. List: how many are still to be read
  std::size_t begin = 0;  ///< Object, Box, List: the first slot of the data value that is being made
  ObjectTable::Class* described = nullptr;
  Data made{};         ///< List: the elements that were read, which are the last ones
  nb::object whole{};  ///< List: the dict whose items it holds; none where it is the list itself

  /// The layout of the data value whose fields are being gathered.
  FieldLayout layout() const { return kind == Kind::Object ? described->layout : plan->layout; }
  bool makes_data() const { return kind >= Kind::Object; }
};

class Snapshot::Unfinished {
 public:
  Unfinished(std::vector<Slot>& slots, FieldLayout layout)
      : slots_(slots), begin_(slots.size()), layout_(layout) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (slots_.size() == begin_) return;
    Data::release_slots(layout_, gathered());
    slots_.resize(begin_);
  }

  std::span<const Slot> gathered() const { return std::span<const Slot>(slots_).subspan(begin_); }
  /// Somebody else has them.
  void forget() { slots_.resize(begin_); }

 private:
  std::vector<Slot>& slots_;
  const std::size_t begin_;
  const FieldLayout layout_;
};

std::vector<Value> Snapshot::arguments(const nb::tuple& given, const std::vector<Plan>& plans) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].kind == Plan::Kind::Sink) keep_out_of(nb::object(given[i]).ptr());
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const nb::object argument = given[i];
    Unfinished slots(slots_, plans[i].layout);
    whole_ = &plans[i];
    take(argument.ptr(), plans[i]);
    values.reserve(values.size() + plans[i].components.size());
    for (std::size_t c = 0; c < plans[i].components.size(); ++c)
      values.push_back(value_of(plans[i].components[c], slots.gathered()[c]));
    slots.forget();
  }
  return values;
}

Snapshot::Snapshot(const Plan* result)
    : result_(result), gives_objects_(result != nullptr && holds_objects(*result)) {}
Snapshot::~Snapshot() = default;

void Snapshot::take(PyObject* given, const Plan& plan) {
  const std::size_t outside = reading_.size();
  try {
    begin(given, plan);
    while (reading_.size() > outside) read_on();
  } catch (...) {
    for (; reading_.size() > outside; reading_.pop_back()) {
      const Reading& last = reading_.back();
      if (!last.makes_data() || slots_.size() == last.begin) continue;
      Data::release_slots(last.layout(), std::span<const Slot>(slots_).subspan(last.begin));
      slots_.resize(last.begin);
    }
    throw;
  }
}

/// Reads what has no parts; what has some comes next.
void Snapshot::begin(PyObject* given, const Plan& plan) {
  switch (plan.kind) {
    case Plan::Kind::Int:
      if (!PyLong_CheckExact(given)) break;
      return slots_.push_back(slot_of(integer_in(given)));
    case Plan::Kind::Object:
      if (given == Py_None && plan.takes_none) return slots_.push_back(default_of(plan.type));
      if (!is_one_of(given, plan.constant.ptr())) break;
      return begin_object(given, plan);
    case Plan::Kind::Union:
      return begin_union(given, plan);
    case Plan::Kind::Bool:
      if (!PyBool_Check(given)) break;
      return slots_.push_back(slot_of(given == Py_True));
    case Plan::Kind::Float:
      if (!PyFloat_CheckExact(given)) break;
      return slots_.push_back(slot_of(PyFloat_AS_DOUBLE(given)));
    default:
      if (!fits(given, plan)) break;
      return begin_other(given, plan);
  }
  miss("a value of a type that was not seen before", given, true);
}

/// What fits its plan, which is of a kind that numbers, objects and unions are not of.
void Snapshot::begin_other(PyObject* given, const Plan& plan) {
  switch (plan.kind) {
    case Plan::Kind::Symbol:
      slots_.push_back(slot_of(number_of(given, *plan.symbols)));
      break;
    case Plan::Kind::Tensor: {
      const auto& tensor = *nb::inst_ptr<EagerTensor>(given);
      has_marks_inside_ |= tensor.mark != 0 && &plan != whole_;
      slots_.push_back(Value(tensor.value).detach());
      break;
    }
    case Plan::Kind::Tuple:
      reading_.push_back({.kind = Reading::Kind::Tuple, .plan = &plan, .held = nb::borrow(given)});
      break;
    case Plan::Kind::Dict:
      reading_.push_back({.kind = Reading::Kind::Dict, .plan = &plan, .held = nb::borrow(given)});
      break;
    case Plan::Kind::Array:
      refuse_kept_out(given);
      return take_array(given, plan);
    case Plan::Kind::List:
      refuse_kept_out(given);
      if (is_number(plan.parts[0]) && PyList_GET_SIZE(given) > 0) return take_numbers(given, plan);
      begin_list(nb::borrow(given), plan, {});
      break;
    case Plan::Kind::Items:
      begin_list(nb::steal(PyDict_Items(given)), plan, nb::borrow(given));
      break;
    default:
      break;
  }
}

void Snapshot::refuse_kept_out(PyObject* list) {
  if (std::ranges::find(kept_out_, list) == kept_out_.end()) return;
  miss("a list that is read and appended to", list);
}

/// Pushes the tensor that a list of numbers becomes.
void Snapshot::take_array(PyObject* list, const Plan& plan) {
  const Py_ssize_t size = PyList_GET_SIZE(list);
  Tensor numbers(plan.type.dtype, {size});
  const auto fill = [&](auto* to, auto Slot::*number) {
    for (Py_ssize_t i = 0; i < size; ++i) {
      begin(PyList_GET_ITEM(list, i), plan.parts[0]);
      to[i] = slots_.back().*number;
      slots_.pop_back();
    }
  };
  switch (plan.type.dtype) {
    case DType::Bool:
      fill(numbers.mutable_data<bool>(), &Slot::boolean);
      break;
    case DType::I64:
      fill(numbers.mutable_data<int64_t>(), &Slot::i64);
      break;
    default:
      fill(numbers.mutable_data<double>(), &Slot::f64);
  }
  slots_.push_back(Value(std::move(numbers)).detach());
}

/// Pushes what a list of numbers becomes. To read them runs no code of Python.
void Snapshot::take_numbers(PyObject* list, const Plan& plan) {
  Data made(kEmptyList, {});
  for (Py_ssize_t i = PyList_GET_SIZE(list); i-- > 0;) {
    begin(PyList_GET_ITEM(list, i), plan.parts[0]);
    const std::array cell{slots_.back(), Value(std::move(made)).detach()};
    slots_.pop_back();
    made = Data::take(kListCell, plan.layout, cell);
  }
  if (gives_objects_) objects_.emplace(made.object(), nb::borrow(list));
  slots_.push_back(Value(std::move(made)).detach());
}

void Snapshot::begin_union(PyObject* given, const Plan& plan) {
  const auto fitting = std::ranges::find_if(plan.parts, [&](const Plan& part) { return fits(given, part); });
  if (fitting == plan.parts.end()) miss("a value of a type that was not seen before", given, true);
  const auto side = static_cast<std::size_t>(fitting - plan.parts.begin());
  slots_.push_back(slot_of(static_cast<int64_t>(side)));
  push_defaults(plan, 0, side);
  const std::size_t depth = reading_.size();
  begin(given, *fitting);
  if (reading_.size() == depth) return push_defaults(plan, side + 1, plan.parts.size());
  // The defaults of the sides behind it come when its parts were read.
  Reading of_side = std::move(reading_.back());
  reading_.back() = {.kind = Reading::Kind::Union, .plan = &plan, .next = side + 1};
  reading_.push_back(std::move(of_side));
}

/// Stands for the fields of the sides that a value is not of.
void Snapshot::push_defaults(const Plan& plan, std::size_t first, std::size_t last) {
  for (std::size_t side = first; side < last; ++side) {
    for (const Type& type : plan.parts[side].components) slots_.push_back(default_of(type));
  }
}

/// The data value of the slots of what is read last, which are gone then.
Slot Snapshot::gathered(uint32_t variant) {
  const Reading& last = reading_.back();
  Slot slot;
  try {
    slot.data =
        Data::take(variant, last.layout(), std::span<const Slot>(slots_).subspan(last.begin)).detach();
  } catch (...) {
    slots_.resize(last.begin);  // Data::take let go of them
    throw;
  }
  slots_.resize(last.begin);
  return slot;
}

/// `whole`: the dict whose items it holds, if it is no list of the caller.
void Snapshot::begin_list(nb::object list, const Plan& plan, nb::object whole) {
  if (!list.is_valid()) nb::raise_python_error();
  const auto count = static_cast<std::size_t>(PyList_GET_SIZE(list.ptr()));
  reading_.push_back({.kind = Reading::Kind::List,
                      .plan = &plan,
                      .held = std::move(list),
                      .next = count,
                      .begin = slots_.size(),
                      .made = Data(kEmptyList, {}),
                      .whole = std::move(whole)});
}

void Snapshot::read_on() {
  Reading& last = reading_.back();
  switch (last.kind) {
    case Reading::Kind::Union:
      push_defaults(*last.plan, last.next, last.plan->parts.size());
      reading_.pop_back();
      break;
    case Reading::Kind::Tuple: {
      if (last.next == last.plan->parts.size()) return reading_.pop_back();
      const std::size_t item = last.next++;
      begin(PyTuple_GET_ITEM(last.held.ptr(), static_cast<Py_ssize_t>(item)), last.plan->parts[item]);
      break;
    }
    case Reading::Kind::Dict:
      read_on_in_dict(last);
      break;
    case Reading::Kind::Object:
      read_on_in_object(last);
      break;
    case Reading::Kind::List:
      read_on_in_list(last);
      break;
    case Reading::Kind::Box: {
      const Slot box = gathered(1);
      reading_.pop_back();
      slots_.push_back(box);
      break;
    }
  }
}

void Snapshot::read_on_in_dict(Reading& last) {
  if (last.next == last.plan->parts.size()) return reading_.pop_back();
  const std::size_t item = last.next++;
  PyObject* const key = PyTuple_GET_ITEM(last.plan->constant.ptr(), static_cast<Py_ssize_t>(item));
  PyObject* const value = PyDict_GetItemWithError(last.held.ptr(), key);
  if (value == nullptr) miss("a dict that changes while it is read", last.held.ptr());
  const nb::object held = nb::borrow(value);
  begin(value, last.plan->parts[item]);
}

int64_t Snapshot::number_of(PyObject* text, const Symbols& symbols) {
  PyObject* found = found_in(symbols.numbers, text);
  if (found == nullptr && numbers_.is_valid()) found = found_in(numbers_, text);
  if (found != nullptr) return PyLong_AsLongLong(found);
  if (!numbers_.is_valid()) numbers_ = nb::dict();
  const auto number = static_cast<int64_t>(symbols.texts.size() + texts_.size());
  numbers_[nb::handle(text)] = number;
  texts_.push_back(nb::borrow(text));
  return number;
}

/// Begins to load the objects that fields of an object refer to, so that the fields wait for memory together.
void load_ahead(PyObject* given, ObjectTable::Class& described) {
  const AttributePlaces::Opened opened = described.attributes.open(given);
  const std::size_t count = std::min<std::size_t>(described.fields.size(), 8);
  std::array<PyObject*, 8> objects;
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* const value = described.attributes.find(opened, i);
    if (value == nullptr || value == Py_None) continue;
    __builtin_prefetch(value);
    if (described.fields[i].kind == Plan::Kind::Object) objects[found++] = value;
  }
  for (std::size_t i = 0; i < found; ++i) {
    if (Py_IS_TYPE(objects[i], Py_TYPE(given))) described.attributes.expect(objects[i]);
  }
}

void Snapshot::begin_object(PyObject* given, const Plan& plan) {
  if (walk(given, plan)) return;
  const bool may_be_shared = Py_REFCNT(given) > 1;
  if (may_be_shared) {
    const auto [known, is_new] = shared_.try_emplace(given);
    if (!is_new) {
      if (!known->second) miss("an object that reaches itself through fields that are read", given);
      slots_.push_back(Value(known->second).detach());
      return;
    }
  }
  ObjectTable::Class& described = *plan.objects->find(Py_TYPE(given));
  if (reading_.capacity() == 0) reading_.reserve(kUsualDepth);
  reading_.push_back({.kind = Reading::Kind::Object,
                      .may_be_shared = may_be_shared,
                      .held = nb::borrow(given),
                      .begin = slots_.size(),
                      .described = &described});
  load_ahead(given, described);
}

void Snapshot::read_on_in_object(Reading& last) {
  PyObject* const given = last.held.ptr();
  ObjectTable::Class& described = *last.described;
  // Fields that have no parts are read in one go; `last` moves where one has some.
  const std::size_t depth = reading_.size();
  const std::size_t count = described.fields.size();
  AttributePlaces::Opened opened = described.attributes.open(given);
  for (std::size_t field = last.next; field < count;) {
    const Plan& plan = described.fields[field];
    PyObject* const value = described.attributes.find(opened, field);
    if (value != nullptr) [[likely]] {
      begin(value, plan);
      if (!is_number(plan)) opened = described.attributes.open(given);  // code of Python may have run
    } else {
      const nb::object read = described.attributes.read(given, field);
      if (!read.is_valid()) miss("an object without a field that others of its class have", given, true);
      begin(read.ptr(), plan);
      opened = described.attributes.open(given);
    }
    ++field;
    if (reading_.size() != depth) {
      reading_[depth - 1].next = field;
      return;
    }
  }
  if (described.is_bare) slots_.push_back(slot_of(Value(int64_t{0})));
  const Slot made = gathered(described.variant);
  if (reading_.back().may_be_shared) {
    Data::retain(made.data);
    shared_[given] = Data::adopt(made.data);
  }
  if (gives_objects_) objects_.emplace(made.data, reading_.back().held);
  reading_.pop_back();
  slots_.push_back(made);
}

void Snapshot::read_on_in_list(Reading& last) {
  if (slots_.size() > last.begin) {  // an element was read
    slots_.push_back(Value(std::move(last.made)).detach());
    last.made = Data::adopt(gathered(kListCell).data);
  }
  PyObject* const given = last.held.ptr();
  if (last.next == 0) {
    if (gives_objects_) {
      if (Data::has_object(last.made.object())) {
        objects_.emplace(last.made.object(), last.whole.is_valid() ? last.whole : last.held);
      } else if (!last.whole.is_valid() &&
                 std::ranges::find(empty_lists_, last.plan->type) == empty_lists_.end()) {
        empty_lists_.push_back(last.plan->type);
      }
    }
    const Slot made = Value(std::move(last.made)).detach();
    reading_.pop_back();
    slots_.push_back(made);
    return;
  }
  const auto place = static_cast<Py_ssize_t>(--last.next);
  if (place >= PyList_GET_SIZE(given)) miss("a list that changes while it is read", given);
  const Plan& element = last.plan->parts[0];
  if (element.components.size() != 1)
    reading_.push_back({.kind = Reading::Kind::Box, .plan = &element, .begin = slots_.size()});
  begin(PyList_GET_ITEM(given, place), element);
}

}  // namespace hiaton::python
