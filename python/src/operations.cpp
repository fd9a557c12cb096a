// One function of Python for each operation of the catalogue that works on numbers and tensors, and a method
// of tensors.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "graphs.h"

namespace hiaton::python {
namespace {

/// What the Array API standard calls operations that the catalogue calls otherwise.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"sub", "subtract"},
                                                                    {"mul", "multiply"},
                                                                    {"floor_div", "floor_divide"},
                                                                    {"floor_mod", "remainder"},
                                                                    {"neg", "negative"},
                                                                    {"eq", "equal"},
                                                                    {"ne", "not_equal"},
                                                                    {"lt", "less"},
                                                                    {"le", "less_equal"},
                                                                    {"gt", "greater"},
                                                                    {"ge", "greater_equal"},
                                                                    {"is_nan", "isnan"},
                                                                    {"is_inf", "isinf"},
                                                                    {"is_finite", "isfinite"},
                                                                    {"and", "logical_and"},
                                                                    {"or", "logical_or"},
                                                                    {"not", "logical_not"},
                                                                    {"min", "minimum"},
                                                                    {"max", "maximum"},
                                                                    {"reduce_min", "min"},
                                                                    {"reduce_max", "max"},
                                                                    {"cumsum", "cumulative_sum"},
                                                                    {"transpose", "permute_dims"},
                                                                    {"axes", "axis"},
                                                                    {"permutation", "axes"}};

/// How a function of Python is called.
struct Signature {
  const OpDef* op;
  std::string name;
  std::vector<std::string> operands;
  std::vector<std::string> attributes;

  explicit Signature(const OpDef& def) : op(&def), name(python_name_of(def.name.value)) {
    for (std::string_view operand : def.operands.value) {
      if (operand.ends_with("...")) operand.remove_suffix(3);
      operands.emplace_back(operand);
    }
    for (const AttributeDef& attribute : def.attributes) attributes.push_back(python_name_of(attribute.name));
  }
};

[[noreturn]] void refuse_call(const Signature& signature, const std::string& message) {
  throw nb::type_error((signature.name + "(): " + message).c_str());
}

/// The arguments of one call: those without a name in order, then by name.
class Arguments {
 public:
  Arguments(const Signature& signature, const nb::args& args, const nb::kwargs& named)
      : signature_(signature), args_(args), named_(named) {}

  /// The next one, or the one of this name; not valid where there is none.
  nb::handle take(const std::string& name) {
    if (next_ < args_.size()) {
      if (named_.size() > 0 && named_.contains(name.c_str()))
        refuse_call(signature_, "expected '" + name + "' once");
      return args_[next_++];
    }
    return take_named(name);
  }
  /// The first one, where that is a string; not valid where it is none.
  nb::handle take_text() {
    return next_ < args_.size() && PyUnicode_Check(args_[next_].ptr()) ? args_[next_++] : nb::handle();
  }
  nb::handle take_named(const std::string& name) {
    if (named_.size() == 0 || !named_.contains(name.c_str())) return {};
    ++taken_by_name_;
    return PyDict_GetItemString(named_.ptr(), name.c_str());
  }
  /// All that are left and have no names; or those in the one list that is next.
  std::vector<nb::object> take_many() {
    std::vector<nb::object> many;
    if (next_ < args_.size() && (PyList_Check(args_[next_].ptr()) || PyTuple_Check(args_[next_].ptr()))) {
      for (nb::handle one : nb::object(args_[next_++])) many.push_back(nb::borrow(one));
      return many;
    }
    while (next_ < args_.size()) many.push_back(nb::borrow(args_[next_++]));
    return many;
  }
  /// The integers that are left and have no names, where there are several: reshape(x, 2, 3). Not valid else.
  nb::object take_integers() {
    if (next_ + 1 >= args_.size()) return {};
    for (std::size_t i = next_; i < args_.size(); ++i) {
      const nb::handle one = args_[i];
      if (PyBool_Check(one.ptr()) || PyIndex_Check(one.ptr()) == 0) return {};
    }
    nb::list integers;
    while (next_ < args_.size()) integers.append(args_[next_++]);
    return integers;
  }
  /// A name that is none of its arguments is the error to tell of, before an argument that is missing.
  void refuse_unknown_names() const {
    for (auto [name, value] : named_) {
      const auto text = nb::cast<std::string>(name);
      const bool known =
          std::ranges::count(signature_.operands, text) + std::ranges::count(signature_.attributes, text) > 0;
      if (known) continue;
      std::string names;
      for (const auto* list : {&signature_.operands, &signature_.attributes})
        for (const std::string& one : *list) names += (names.empty() ? "" : ", ") + one;
      refuse_call(signature_, "there is no argument '" + text + "'; its arguments are " + names);
    }
  }

  void finish() const {
    if (next_ < args_.size()) {
      refuse_call(signature_, "expected at most " + std::to_string(next_) +
                                  " arguments without a name, found " + std::to_string(args_.size()));
    }
    if (taken_by_name_ != named_.size()) refuse_unknown_names();
  }

 private:
  const Signature& signature_;
  const nb::args& args_;
  const nb::kwargs& named_;
  std::size_t next_ = 0;
  std::size_t taken_by_name_ = 0;
};

Operand operand_from(const Signature& signature, const std::string& name, nb::handle object) {
  if (!object.is_valid()) refuse_call(signature, "expected an argument '" + name + "'");
  if (std::optional<Operand> operand = operand_of(object)) return std::move(*operand);
  const auto type =
      nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__"));
  refuse_call(signature, "'" + name + "': expected a tensor, an array or a number, found " + type);
}

int64_t integer_from(const Signature& signature, const std::string& name, nb::handle object) {
  const Py_ssize_t value = PyNumber_AsSsize_t(object.ptr(), PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_call(signature, "'" + name + "': expected an integer");
  }
  return value;
}

void add_attribute(const Signature& signature, std::size_t index, nb::handle given, Attributes& attributes) {
  const AttributeDef& def = signature.op->attributes[index];
  const std::string& name = signature.attributes[index];
  if (!given.is_valid() || (given.is_none() && def.otherwise)) {
    if (!def.otherwise) refuse_call(signature, "expected an argument '" + name + "'");
    for (std::size_t i = 0; i < def.count && !def.is_list; ++i) attributes.push_back(*def.otherwise);
    return;
  }
  const bool takes_several = def.is_list || def.count > 1;
  if (!takes_several || PyIndex_Check(given.ptr())) {
    const int64_t value = integer_from(signature, name, given);
    for (std::size_t i = 0; i < def.count; ++i) attributes.push_back(value);
    return;
  }
  if (PySequence_Check(given.ptr()) == 0) refuse_call(signature, "'" + name + "': expected integers");
  if (!def.is_list && nb::len(given) != def.count)
    refuse_call(signature, "'" + name + "': expected one integer or " + std::to_string(def.count));
  for (nb::handle one : given) attributes.push_back(integer_from(signature, name, one));
}

nb::object call(const Signature& signature, const nb::args& args, const nb::kwargs& named) {
  const OpDef& op = *signature.op;
  Arguments arguments(signature, args, named);
  if (named.size() > 0) arguments.refuse_unknown_names();
  const nb::handle text = op.attributes_from_text() != nullptr ? arguments.take_text() : nb::handle();
  std::vector<Operand> operands;
  operands.reserve(signature.operands.size());
  for (std::size_t i = 0; i < signature.operands.size(); ++i) {
    const std::string& name = signature.operands[i];
    if (op.is_variadic() && i + 1 == signature.operands.size()) {
      for (const nb::object& one : arguments.take_many())
        operands.push_back(operand_from(signature, name, one));
    } else {
      operands.push_back(operand_from(signature, name, arguments.take(name)));
    }
  }
  Attributes attributes;
  if (text.is_valid()) attributes = op.attributes_from_text()(nb::cast<std::string>(text));
  for (std::size_t i = 0; i < signature.attributes.size() && !text.is_valid(); ++i) {
    const bool is_last = i + 1 == signature.attributes.size();
    const nb::object several = is_last && takes_integers(op) ? arguments.take_integers() : nb::object();
    const nb::handle given =
        several.is_valid() ? nb::handle(several) : arguments.take(signature.attributes[i]);
    add_attribute(signature, i, given, attributes);
  }
  arguments.finish();
  return to_object(apply_promoted(op, operands, attributes));
}

/// For people and for type checkers; of a function, or of a method, whose first operand is `self`.
std::string text_of(const Signature& signature, bool is_method) {
  std::string text = "def " + signature.name + (is_method ? "(self" : "(");
  const OpDef& op = *signature.op;
  std::string_view between = is_method ? ", " : "";
  for (std::size_t i = is_method ? 1 : 0; i < signature.operands.size(); ++i) {
    const bool many = op.is_variadic() && i + 1 == signature.operands.size();
    text += std::string(between) + (many ? "*" : "") + signature.operands[i] + ": " +
            (many ? "numpy.typing.ArrayLike | collections.abc.Sequence[numpy.typing.ArrayLike]"
                  : "numpy.typing.ArrayLike");
    between = ", ";
  }
  for (std::size_t i = 0; i < signature.attributes.size(); ++i) {
    const AttributeDef& def = op.attributes[i];
    text += std::string(between) + signature.attributes[i] + ": " +
            (def.is_list || def.count > 1 ? "int | collections.abc.Sequence[int]" : "int");
    if (def.otherwise) text += " = " + (def.is_list ? "()" : std::to_string(*def.otherwise));
    between = ", ";
  }
  if (takes_integers(op)) text += ", *more: int";
  return text + ") -> hiaton._core.Tensor";
}

/// A function of the module, and a method of tensors where the first operand is one.
void bind_operation(nb::module_& m, nb::handle tensor, const OpDef& op) {
  // Functions live as long as the interpreter, and so do the texts that they show.
  const auto* signature = new Signature(op);
  const auto* text = new std::string(text_of(*signature, false));
  const auto* doc = new std::string(op.doc.value);
  const auto run = [signature](const nb::args& args, const nb::kwargs& named) {
    return call(*signature, args, named);
  };
  m.def(signature->name.c_str(), run, nb::sig(text->c_str()), doc->c_str());
  const bool begins_with_tensor =
      !signature->operands.empty() && !(op.is_variadic() && signature->operands.size() == 1);
  if (!begins_with_tensor || op.attributes_from_text() != nullptr) return;
  if (nb::hasattr(tensor, signature->name.c_str())) return;
  const auto* text_of_method = new std::string(text_of(*signature, true));
  nb::cpp_function_def(run, nb::scope(tensor), nb::name(signature->name.c_str()), nb::is_method(),
                       nb::sig(text_of_method->c_str()), doc->c_str());
}

}  // namespace

std::string python_name_of(std::string_view name) {
  for (const auto& [ours, theirs] : kNames) {
    if (ours == name) return std::string(theirs);
  }
  return std::string(name);
}

bool takes_integers(const OpDef& op) {
  if (op.attributes.empty() || op.is_variadic()) return false;
  const AttributeDef& last = op.attributes.back();
  return last.is_list && (last.name == "shape" || last.name == "permutation");
}

void bind_operations(nb::module_& m) {
  nb::module_ ops = m.def_submodule("ops", "The operations of the catalogue.");
  nb::list names;
  for (const OpDef* op : catalog().all()) {
    // Types convert to themselves, and values of data types have classes of their own.
    if (op->fusion.value == Fusion::Data || op->takes_type || dtype_from_name(op->name.value)) continue;
    bind_operation(ops, m.attr("Tensor"), *op);
    names.append(python_name_of(op->name.value));
  }
  ops.attr("__all__") = names;
}

}  // namespace hiaton::python
