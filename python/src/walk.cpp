// Objects of Python as values of a graph, in one go: objects whose fields are numbers, texts, lists, tuples
// and other such objects.
//
// To read these runs no code of Python, so nothing changes meanwhile and nothing is to be held. A data value
// is made before what its fields refer to, and objects wait in a queue until theirs is made: so many of them
// are on their way from memory at the same time. An object that is met again in one walk may stand below
// itself; where that is so, and where anything does not fit, the walk is given up and `take` reads the
// object, which knows what to say.
#include <algorithm>
#include <array>

#include "graphs.h"

namespace hiaton::python {
namespace {

constexpr int kMostFailedWalks = 3;
constexpr std::size_t kUsualCount = 64;
constexpr std::size_t kObjectsAhead = 4;  // how far ahead of an object in the queue its attributes are loaded

bool has_texts(const Plan& plan) {
  return plan.kind == Plan::Kind::Symbol || std::ranges::any_of(plan.parts, has_texts);
}

bool is_walked(const Plan& plan) {
  switch (plan.kind) {
    case Plan::Kind::Constant:
    case Plan::Kind::Bool:
    case Plan::Kind::Int:
    case Plan::Kind::Float:
    case Plan::Kind::Symbol:
    case Plan::Kind::Object:
      return true;
    case Plan::Kind::Union:
    case Plan::Kind::Tuple:
      return std::ranges::all_of(plan.parts, is_walked);
    case Plan::Kind::List:
      return plan.parts[0].components.size() == 1 && is_walked(plan.parts[0]);
    case Plan::Kind::Tensor:
    case Plan::Kind::Array:
    case Plan::Kind::Dict:
    case Plan::Kind::Items:
    case Plan::Kind::Sink:
      return false;
  }
  return false;
}

/// Whether values of the plan, or parts of them, may be of this type of lists.
bool may_be_list_of(const Plan& plan, const Type& list) {
  return (plan.kind == Plan::Kind::List && plan.type == list) ||
         std::ranges::any_of(plan.parts, [&](const Plan& part) { return may_be_list_of(part, list); });
}

/// Whether values of the plan may be objects, or lists that objects of the table hold.
bool may_be_part_of(const Plan& plan, const ObjectTable& table) {
  if (plan.kind == Plan::Kind::Object) return true;
  const auto holds = [&](const ObjectTable::Class& one) {
    return std::ranges::any_of(one.fields,
                               [&](const Plan& field) { return may_be_list_of(field, plan.type); });
  };
  return (plan.kind == Plan::Kind::List && std::ranges::any_of(table.classes, holds)) ||
         std::ranges::any_of(plan.parts, [&](const Plan& part) { return may_be_part_of(part, table); });
}

bool has_references_in_tuples(const Plan& plan) {
  return plan.kind == Plan::Kind::Tuple ? holds_objects(plan)
                                        : std::ranges::any_of(plan.parts, has_references_in_tuples);
}

/// The same as `fits`; at once for what fields mostly hold.
bool is_of_side(PyObject* value, const Plan& side) {
  if (side.kind == Plan::Kind::Constant) return value == side.constant.ptr();
  return side.kind == Plan::Kind::Int ? PyLong_CheckExact(value) : fits(value, side);
}

}  // namespace

void ObjectTable::add(Class described) {
  is_walked = is_walked && std::ranges::all_of(described.fields, &python::is_walked);
  has_texts = has_texts || std::ranges::any_of(described.fields, &python::has_texts);
  is_cached = is_cached && std::ranges::none_of(described.fields, &has_references_in_tuples);
  classes.push_back(std::move(described));
}

/// Pushes what the object becomes. False: nothing was done.
bool Snapshot::walk(PyObject* given, const Plan& plan) {
  ObjectTable& table = *plan.objects;
  if (!table.is_walked || table.failed_walks == kMostFailedWalks) return false;
  const nb::object held = nb::borrow(given);
  nb::object reference;
  if (table.is_cached && kept_out_.empty() && !may_give_parts_of(table)) {
    if (take_cached(given, plan)) return true;
    reference = table.cache.expect(given);
  }
  keeper_ = reference.is_valid() ? &table.cache : nullptr;
  // Numbers of new texts: to make a dict may collect what nobody refers to, which runs code of Python.
  if (table.has_texts && !numbers_.is_valid()) numbers_ = nb::dict();
  Slot root = blank_of(plan.type);
  bool is_whole = false;
  const auto undo = [&] {
    for (const Walked& one : walked_twice_) shared_.erase(one.object);
    Data::release(root.data);
  };
  try {
    meets_known_ = false;
    is_whole = walk_all({given, &plan, &root});
    if (is_whole) {
      end_walk();
      slots_.push_back(root);
      // Texts that the graph does not know have numbers of this call.
      if (reference.is_valid() && !meets_known_ && texts_.empty()) {
        table.cache.add(std::move(reference), walked_, walked_twice_, table);
      }
    }
  } catch (...) {
    undo();
    throw;
  }
  if (!is_whole) undo();
  table.failed_walks = is_whole ? 0 : table.failed_walks + 1;
  walked_.clear();
  walked_twice_.clear();
  return is_whole;
}

/// Whether results may be objects of the table or what they hold: these must be known one by one then.
bool Snapshot::may_give_parts_of(const ObjectTable& table) const {
  return gives_objects_ && may_be_part_of(*result_, table);
}

/// Pushes the data value that a call before made of the object. False: there is none.
bool Snapshot::take_cached(PyObject* given, const Plan& plan) {
  if (!is_one_of(given, plan.constant.ptr())) return false;
  const ObjectCache::Entry* const entry = plan.objects->cache.find(given, *plan.objects);
  if (entry == nullptr) return false;
  for (const ObjectCache::Shared& one : entry->shared) {
    const auto known = shared_.find(one.object);
    if (known != shared_.end() && known->second.object() != one.data) return false;
  }
  for (const ObjectCache::Shared& one : entry->shared) {
    Data::retain(one.data);
    shared_[one.object] = Data::adopt(one.data);
  }
  slots_.push_back(Value(entry->data).detach());
  return true;
}

/// Reads the root and what it reaches. False: something does not fit.
bool Snapshot::walk_all(const Walked& root) {
  const ObjectTable::Class* const like_root = root.plan->objects->find(Py_TYPE(root.object));
  walked_.reserve(kUsualCount);
  walked_.push_back(root);
  for (std::size_t i = 0; i < walked_.size(); ++i) {
    if (like_root != nullptr && i + kObjectsAhead < walked_.size()) {
      PyObject* const ahead = walked_[i + kObjectsAhead].object;
      if (Py_IS_TYPE(ahead, Py_TYPE(root.object))) like_root->attributes.expect(ahead);
    }
    const Walked next = walked_[i];
    const bool fits = next.plan->kind == Plan::Kind::List ? walk_list(next.object, *next.plan, next.slot)
                                                          : walk_object(next.object, *next.plan, next.slot);
    if (!fits) return false;
  }
  return true;
}

/// Remembers what may be met again, and what may come back.
void Snapshot::end_walk() {
  if (gives_objects_) {
    for (const Walked& one : walked_) {
      if (Data::has_object(one.slot->data)) {
        objects_.emplace(one.slot->data, nb::borrow(one.object));
      } else if (std::ranges::find(empty_lists_, one.plan->type) == empty_lists_.end()) {
        empty_lists_.push_back(one.plan->type);
      }
    }
  }
  for (const Walked& one : walked_twice_) {
    Data::retain(one.slot->data);
    shared_[one.object] = Data::adopt(one.slot->data);
  }
}

/// A data value whose fields are to be filled in.
DataObject* Snapshot::made_blank(uint32_t variant, FieldLayout layout, std::span<const Slot> blank) {
  Data made = keeper_ == nullptr ? Data::take(variant, layout, blank) : keeper_->make(variant, layout, blank);
  return made.detach();
}

bool Snapshot::walk_object(PyObject* given, const Plan& plan, Slot* slot) {
  if (!is_one_of(given, plan.constant.ptr())) return false;
  if (Py_REFCNT(given) > 1) {
    const auto [known, is_new] = shared_.try_emplace(given);
    if (!is_new) {
      if (!known->second) return false;
      meets_known_ = true;
      *slot = Value(known->second).detach();
      return true;
    }
    walked_twice_.push_back({given, &plan, slot});
  }
  ObjectTable::Class& described = *plan.objects->find(Py_TYPE(given));
  const AttributePlaces::Opened opened = described.attributes.open(given);
  slot->data = made_blank(described.variant, described.layout, described.blank);
  Slot* field = slot->data->slots();
  for (std::size_t i = 0; i < described.fields.size(); ++i) {
    PyObject* const value = described.attributes.find(opened, i);
    if (value == nullptr || !walk_field(value, described.fields[i], field)) return false;
    field += described.fields[i].components.size();
  }
  return true;
}

/// Fills in the slots of a field, which are blank.
bool Snapshot::walk_field(PyObject* value, const Plan& plan, Slot* slots) {
  switch (plan.kind) {
    case Plan::Kind::Int:
      return PyLong_CheckExact(value) && read_integer(value, slots->i64);
    case Plan::Kind::Object:
      if (value == Py_None && plan.takes_none) return true;
      __builtin_prefetch(reinterpret_cast<PyObject**>(value) - 4);  // see AttributePlaces::values_of
      [[fallthrough]];
    case Plan::Kind::List:
      __builtin_prefetch(value);
      walked_.push_back({value, &plan, slots});
      return true;
    case Plan::Kind::Bool:
      slots->boolean = value == Py_True;
      return PyBool_Check(value);
    case Plan::Kind::Float:
      if (!PyFloat_CheckExact(value)) return false;
      slots->f64 = PyFloat_AS_DOUBLE(value);
      return true;
    case Plan::Kind::Symbol:
      if (!PyUnicode_CheckExact(value)) return false;
      slots->i64 = number_of(value, *plan.symbols);
      return true;
    case Plan::Kind::Union: {
      Slot* of_side = slots + 1;
      for (const Plan& side : plan.parts) {
        if (is_of_side(value, side)) {
          slots->i64 = &side - plan.parts.data();
          return walk_field(value, side, of_side);
        }
        of_side += side.components.size();
      }
      return false;
    }
    case Plan::Kind::Tuple: {
      if (!fits(value, plan)) return false;
      for (std::size_t i = 0; i < plan.parts.size(); ++i) {
        if (!walk_field(PyTuple_GET_ITEM(value, static_cast<Py_ssize_t>(i)), plan.parts[i], slots))
          return false;
        slots += plan.parts[i].components.size();
      }
      return true;
    }
    default:
      return fits(value, plan);  // Constant, which has no slots
  }
}

bool Snapshot::walk_list(PyObject* list, const Plan& plan, Slot* slot) {
  if (!PyList_CheckExact(list) || std::ranges::find(kept_out_, list) != kept_out_.end()) return false;
  const Plan& element = plan.parts[0];
  const std::array blank = {blank_of(element.components[0]), blank_of(plan.type)};
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    slot->data = made_blank(kListCell, plan.layout, blank);
    Slot* const fields = slot->data->slots();
    if (!walk_field(PyList_GET_ITEM(list, i), element, fields)) return false;
    slot = fields + 1;
  }
  return true;
}

}  // namespace hiaton::python
