// Functions of Python as graphs: how they are built, and how objects become their arguments.
#pragma once

#include <tsl/robin_map.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "attributes.h"
#include "graph_rules.h"
#include "hiaton/train.h"
#include "object_cache.h"
#include "programs.h"

namespace hiaton::python {

/// A type of the module that is being built.
struct GraphType {
  Type type;
};

/// `hiaton.nn.Parameter`: a tensor that an optimizer changes.
struct LearnedTensor : EagerTensor {
  std::shared_ptr<train::Numbers> storage;  ///< its elements, of f32 or of f64
};

/// The gradients of one loss by the parameters of its graph.
struct GraphGradients {
  std::shared_ptr<Gradients> sums;
  std::shared_ptr<const std::vector<graph::Parameter>> parameters;  ///< that the sums are of
  double kernel_seconds = 0;  ///< that the run was inside of kernels, where it was asked to measure that

  nb::object values(std::size_t index) const;
  /// As of row_numbers().
  nb::object rows(std::size_t index) const;
};

/// The texts that a graph knows, and their numbers. Other texts have numbers behind these during one call.
struct Symbols {
  nb::dict numbers;
  std::vector<nb::object> texts;  ///< by number
};

/// How a value of Python becomes values of a graph, and back.
struct Plan {
  enum class Kind : uint8_t {
    Constant,
    Bool,
    Int,
    Float,
    Symbol,
    Tensor,
    Object,
    Union,
    Tuple,
    Dict,
    List,
    Array,  ///< a list of numbers that becomes a tensor
    Items,  ///< a dict that becomes a list of its keys and items
    Sink
  };
  Kind kind = Kind::Constant;
  /// Constant: the object itself. Tuple: its class. Dict: a tuple of its keys. Object: a tuple of the
  /// classes that fit, with None where that does.
  nb::object constant;
  bool takes_none = false;  ///< Object: None fits too
  Type type;                ///< Tensor, Array: of it. Object, List, Items: of the data
  std::vector<Plan>
      parts;  ///< Tuple, Dict: its items. Union: its sides. List, Array, Items: the one of its elements
  std::vector<Type> components;  ///< the types of the values that it becomes
  FieldLayout layout;            ///< how they lie as the fields of one data value
  struct ObjectTable* objects = nullptr;
  std::shared_ptr<const Symbols> symbols;  ///< Symbol: those of the graph
};

/// How the objects of some classes become values of the one data type that a graph has for objects. Its
/// variant 0 stands for None.
struct ObjectTable {
  struct Class {
    nb::object made;  ///< the class
    uint32_t variant;
    AttributePlaces attributes;
    std::vector<Plan> fields;  ///< how each attribute is read
    FieldLayout layout;        ///< how all values lie that the fields become
    std::vector<Slot> blank;   ///< such values that refer to nothing
    bool is_bare = false;      ///< these are none: a number stands there, so that each object is one
  };
  void add(Class described);
  /// nullptr where there is none of this type: there are few.
  Class* find(PyTypeObject* type) {
    for (Class& one : classes) {
      if (reinterpret_cast<PyTypeObject*>(one.made.ptr()) == type) return &one;
    }
    return nullptr;
  }
  std::vector<Class> classes;
  bool is_walked = true;   ///< Snapshot::walk reads objects of these classes
  bool has_texts = false;  ///< some fields are texts
  bool is_cached = true;   ///< no tuple in a field holds objects or lists
  int failed_walks = 0;    ///< how often in a row that did not go
  ObjectCache cache;       ///< knows the objects that Snapshot::walk read
};

/// Whether values of the plan are numbers: to read one runs no code of Python.
bool is_number(const Plan& plan);
/// Whether values of the plan hold objects or lists.
bool holds_objects(const Plan& plan);
/// What stands for a value of a type, but of a tensor, and refers to nothing.
Slot blank_of(const Type& type);
/// Whether an object may become values of the plan, as far as it can be told from its type and size.
bool fits(PyObject* given, const Plan& plan);
/// Whether the object is None and that stands in the tuple, or is of a class that does.
bool is_one_of(PyObject* object, PyObject* classes);

/// Reads an `int`. False: it does not fit.
inline bool read_integer(PyObject* object, int64_t& n) {
#if PY_VERSION_HEX < 0x030C0000
  // The size is that of the digits, with the sign of the number.
  const Py_ssize_t size = Py_SIZE(object);
  if (size >= -1 && size <= 1) {
    n = size * static_cast<int64_t>(reinterpret_cast<PyLongObject*>(object)->ob_digit[0]);
    return true;
  }
#endif
  int overflow = 0;
  n = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}

/// The variants of a list.
constexpr uint32_t kEmptyList = 0;
constexpr uint32_t kListCell = 1;

/// The objects of one call and their values, so that what is shared stays shared, and what comes back
/// unchanged is the same object.
class Snapshot {
 public:
  /// `result`: of what is given, which holds objects or lists that may be some that came in; null: nothing
  /// is.
  explicit Snapshot(const Plan* result);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot();

  /// Nobody may read the list: it grows when the run is over.
  void keep_out_of(PyObject* list) { kept_out_.push_back(list); }
  /// What the arguments become. Throws Miss where one does not fit its plan.
  std::vector<Value> arguments(const nb::tuple& given, const std::vector<Plan>& plans);
  /// Whether tensors among the arguments that are no arguments themselves have marks of tapes.
  bool has_marks_inside() const { return has_marks_inside_; }
  /// Results that tapes have seen: `give` makes tensors with their marks of them.
  void give_marks(std::span<const EagerTensor> results) { marked_ = results; }
  /// The object for values that begin here; moves `values` behind them. Throws Miss where nobody knows
  /// whether it is one that came in.
  nb::object give(const Plan& plan, const Value*& values);

  /// Why an object does not fit.
  struct Miss {
    const char* reason;
    nb::object object;
    bool is_of_type;  ///< a graph for more types takes it
  };

 private:
  /// Slots that are being gathered: their references go where they are not made a data value.
  class Unfinished;
  struct Reading;
  /// An object that was made, and what its fields are to hold.
  struct Made {
    nb::object object;
    Data data;
    const ObjectTable::Class* described;
  };

  /// Pushes what the object becomes; the caller sees to it that it lives.
  void take(PyObject* given, const Plan& plan);
  bool may_give_parts_of(const ObjectTable& table) const;
  void begin(PyObject* given, const Plan& plan);
  void begin_other(PyObject* given, const Plan& plan);
  void take_numbers(PyObject* list, const Plan& plan);
  void take_array(PyObject* list, const Plan& plan);
  void refuse_kept_out(PyObject* list);
  void begin_union(PyObject* given, const Plan& plan);
  void begin_object(PyObject* given, const Plan& plan);
  void begin_list(nb::object list, const Plan& plan, nb::object whole);
  bool walk(PyObject* given, const Plan& plan);
  bool take_cached(PyObject* given, const Plan& plan);
  bool walk_all(const Walked& root);
  DataObject* made_blank(uint32_t variant, FieldLayout layout, std::span<const Slot> blank);
  bool walk_object(PyObject* given, const Plan& plan, Slot* slot);
  bool walk_field(PyObject* value, const Plan& plan, Slot* slots);
  bool walk_list(PyObject* list, const Plan& plan, Slot* slot);
  void end_walk();
  void push_defaults(const Plan& plan, std::size_t first, std::size_t last);
  void read_on();
  void read_on_in_dict(Reading& last);
  void read_on_in_object(Reading& last);
  void read_on_in_list(Reading& last);
  Slot gathered(uint32_t variant);
  int64_t number_of(PyObject* text, const Symbols& symbols);
  nb::object text_of(int64_t number, const Symbols& symbols) const;
  nb::object part(const Plan& plan, const Value*& values);
  nb::object tuple_of(const Plan& plan, const Value*& values);
  nb::object dict_of(const Plan& plan, const Value*& values);
  nb::object side_of(const Plan& plan, const Value*& values);
  nb::object list_of(const Plan& plan, DataObject* first, bool may_come_again);
  nb::object dict_of_items(const Plan& plan, const Data& first);
  nb::object made(const Data& data, const ObjectTable& table);
  void set_fields();

  template <class Key, class Held>
  using ByPointer = tsl::robin_map<const Key*, Held>;

  EagerTensor with_mark(const Value& value) const;

  const Plan* const result_;
  const bool gives_objects_;
  bool has_marks_inside_ = false;
  const Plan* whole_ = nullptr;                ///< the plan of the argument that is being read
  std::span<const EagerTensor> marked_;        ///< results that tapes have seen
  const Value* first_given_ = nullptr;         ///< the first of the results that are given
  std::vector<Slot> slots_;                    ///< a stack: of the fields that are being read
  ByPointer<PyObject, Data> shared_;           ///< no value: the object is being read
  ByPointer<DataObject, nb::object> objects_;  ///< other threads may change what holds them
  ByPointer<DataObject, nb::object> made_;
  nb::object numbers_;                ///< by text, of texts that the graph does not know; no value: none
  std::vector<nb::object> texts_;     ///< in the order of their numbers
  std::vector<Reading> reading_;      ///< a stack: what is being read, each as a part of the one before
  std::vector<Walked> walked_;        ///< a queue
  std::vector<Walked> walked_twice_;  ///< objects of the queue that others refer to as well
  ObjectCache* keeper_ = nullptr;     ///< remembers what the walk reads; null: nobody does
  bool meets_known_ = false;          ///< the walk came to an object of a walk before
  std::vector<Made> without_fields_;
  std::vector<PyObject*> kept_out_;
  std::vector<Type> empty_lists_;  ///< the types of empty lists that came in: their values have no identity
};

/// Whether all operands of the operation that are numbers get one element type.
bool operands_share_a_type(const OpDef& op);
/// Whether axes of the one operand go. Without axes, a tensor of rank 0 stays as it is, as in NumPy.
bool reduces(const OpDef& op);
/// Whether it takes elements of this type.
bool reduces_numbers_of(const OpDef& op, DType dtype);
/// What Python calls an operation, an operand or an attribute of the catalogue.
std::string python_name_of(std::string_view name);
/// Whether a call may give the last attribute, a shape or an order of axes, as integers one by one.
bool takes_integers(const OpDef& op);

void bind_graphs(nb::module_& m);
void bind_graph_calls(nb::module_& m);
void bind_learned(nb::module_& m);
void bind_distributed(nb::module_& m);

}  // namespace hiaton::python
