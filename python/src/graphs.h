// Functions of Python as graphs: how they are built, and how objects become their arguments.
#pragma once

#include <tsl/robin_map.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "attributes.h"
#include "hiaton/train.h"
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

  nb::object values(std::size_t index) const;
  /// As of row_numbers().
  nb::object rows(std::size_t index) const;
};

/// How a value of Python becomes values of a graph, and back.
struct Plan {
  enum class Kind : uint8_t { Constant, Bool, Int, Float, Symbol, Tensor, Object, Union, Tuple, Dict, List };
  Kind kind = Kind::Constant;
  /// Constant: the object itself. Tuple: its class. Dict: a tuple of its keys. Symbol: names to numbers.
  /// Object: a tuple of the classes that fit, with None where that does.
  nb::object constant;
  bool takes_none = false;       ///< Object: None fits too
  Type type;                     ///< Tensor: of it. Object, List: of the data
  std::vector<Plan> parts;       ///< Tuple, Dict: its items. Union: its sides. List: the one of its elements
  std::vector<Type> components;  ///< the types of the values that it becomes
  FieldLayout layout;            ///< of these as the fields of one data value
  struct ObjectTable* objects = nullptr;
};

/// How the objects of some classes become values of the one data type that a graph has for objects. Its
/// variant 0 stands for None.
struct ObjectTable {
  struct Class {
    nb::object made;  ///< the class
    uint32_t variant;
    AttributePlaces attributes;
    std::vector<Plan> fields;  ///< of the attributes
    FieldLayout layout;        ///< of all values that the fields become
  };
  /// nullptr where there is none of this type: there are few.
  Class* find(PyTypeObject* type) {
    for (Class& one : classes) {
      if (reinterpret_cast<PyTypeObject*>(one.made.ptr()) == type) return &one;
    }
    return nullptr;
  }
  std::vector<Class> classes;
};

/// The objects of one call and their values, so that what is shared stays shared, and what comes back
/// unchanged is the same object.
class Snapshot {
 public:
  /// `gives_objects`: results hold objects or lists, which may be some that came in.
  explicit Snapshot(bool gives_objects) : gives_objects_(gives_objects) {}

  /// What the arguments become. Throws Miss where one does not fit its plan.
  std::vector<Value> arguments(const nb::tuple& given, const std::vector<Plan>& plans);
  /// The object for values that begin here; moves `values` behind them.
  nb::object give(const Plan& plan, const Value*& values);

  /// Why an object does not fit.
  struct Miss {
    const char* reason;
    nb::object object;
  };

 private:
  /// Slots that are being gathered: their references go where they are not made a data value.
  class Unfinished;

  /// Pushes what the object becomes; the caller sees to it that it lives.
  void take(PyObject* given, const Plan& plan);
  void take_union(PyObject* given, const Plan& plan);
  Slot object(PyObject* given, ObjectTable& table);
  Slot list(PyObject* given, const Plan& plan);
  Slot boxed(PyObject* given, const Plan& element);
  nb::object made(const Data& data, const ObjectTable& table);

  template <class Key, class Held>
  using ByPointer = tsl::robin_map<const Key*, Held>;

  bool gives_objects_;
  std::vector<Slot> slots_;                    ///< a stack: of the fields that are being read
  ByPointer<PyObject, Data> shared_;           ///< no value: the object is being read
  ByPointer<DataObject, nb::object> objects_;  ///< other threads may change what holds them
  ByPointer<DataObject, nb::object> made_;
  int depth_ = 0;
};

/// Whether all operands of the operation that are numbers get one element type.
bool operands_share_a_type(const OpDef& op);
/// What Python calls an operation, an operand or an attribute of the catalogue.
std::string python_name_of(std::string_view name);

void bind_graphs(nb::module_& m);
void bind_graph_calls(nb::module_& m);
void bind_distributed(nb::module_& m);

}  // namespace hiaton::python
