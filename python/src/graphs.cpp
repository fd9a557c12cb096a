// Modules that the converter of Python functions builds, node by node.
#include "graphs.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "hiaton/builder.h"

namespace hiaton::python {
namespace {

using Ids = std::vector<uint32_t>;

/// The body of a function while it is being defined.
class GraphBody {
 public:
  explicit GraphBody(FunctionBuilder& builder) : builder_(builder) {}

  Ids parameters() const { return ids_of(builder_.function()[builder_.function().body].params); }
  uint32_t constant(nb::handle number, const GraphType& type) {
    return id_of(builder_.constant(value_of(number, type.type), type.type));
  }
  uint32_t op(const std::string& name, const Ids& operands, const std::vector<int64_t>& attributes) {
    return id_of(
        builder_.op(name, vars_of(operands), Attributes(attributes.begin(), attributes.end()), nullptr));
  }
  Ids call(uint32_t function, const Ids& arguments) {
    return ids_of(builder_.call({ir::FunctionId(function)}, vars_of(arguments)));
  }
  uint32_t make(const GraphType& type, std::size_t variant, const Ids& fields) {
    return id_of(builder_.make(type.type, variant, vars_of(fields)));
  }
  uint32_t variant(uint32_t data) { return id_of(builder_.variant(var(data))); }
  uint32_t field(uint32_t data, std::size_t variant, std::size_t field) {
    return id_of(builder_.field(var(data), variant, field));
  }
  uint32_t parameter(std::size_t number) { return id_of(builder_.parameter(number)); }
  uint32_t begin_block() { return static_cast<uint32_t>(builder_.begin_block({}).index()); }
  void end_block(uint32_t block, const Ids& results) {
    builder_.end_block(ir::BlockId(block), Vars(std::span<const Var>(vars_of(results))));
  }
  Ids finish_if(uint32_t condition, uint32_t then, uint32_t otherwise) {
    return ids_of(builder_.finish_if(var(condition), ir::BlockId(then), ir::BlockId(otherwise)));
  }
  void set_span(uint32_t begin, uint32_t end) { builder_.set_span({begin, end}); }
  GraphType type(uint32_t id) { return {var(id).type()}; }
  void name(uint32_t id, const std::string& name) { builder_.named(var(id), SharedString(name)); }

  static Value value_of(nb::handle number, const Type& type) {
    EagerTensor* tensor = nullptr;
    if (nb::try_cast(number, tensor) && tensor != nullptr) return tensor->value;
    if (type.is_data()) return Data(static_cast<uint32_t>(nb::cast<int64_t>(number)), {});
    switch (type.dtype) {
      case DType::Bool:
        return nb::cast<bool>(number);
      case DType::U8:
        return static_cast<uint8_t>(nb::cast<int64_t>(number));
      case DType::I32:
        return static_cast<int32_t>(nb::cast<int64_t>(number));
      case DType::I64:
        return nb::cast<int64_t>(number);
      case DType::F32:
        return static_cast<float>(nb::cast<double>(number));
      case DType::F64:
        return nb::cast<double>(number);
    }
    throw nb::type_error("expected a number");
  }
  std::vector<Var> vars_of(const Ids& ids) {
    std::vector<Var> vars;
    vars.reserve(ids.size());
    for (const uint32_t id : ids) vars.push_back(var(id));
    return vars;
  }

 private:
  Var var(uint32_t id) { return {&builder_, ir::ValueId(id)}; }
  static uint32_t id_of(const Var& var) { return static_cast<uint32_t>(var.id().index()); }
  static Ids ids_of(const Vars& vars) {
    Ids ids;
    for (const Var& one : vars) ids.push_back(id_of(one));
    return ids;
  }
  template <class List>
  static Ids ids_of(const List& values) {
    Ids ids;
    for (const ir::ValueId& id : values) ids.push_back(static_cast<uint32_t>(id.index()));
    return ids;
  }

  FunctionBuilder& builder_;
};

/// A module while it is being built.
class GraphBuilder {
 public:
  GraphBuilder() = default;
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  /// The text that spans are places of: files of Python, as hiaton::Source has several files.
  void set_source(const std::string& name, const std::string& text) {
    builder_.module().source = std::make_shared<const hiaton::Source>(name, text);
  }
  GraphType declare_data(const std::string& name) { return {types_.declare(name)}; }
  void define_data(
      const GraphType& type,
      const std::vector<std::pair<std::string, std::vector<std::pair<std::string, GraphType>>>>& variants) {
    std::vector<Variant> made;
    for (const auto& [name, fields] : variants) {
      Variant& variant = made.emplace_back(Variant{name, {}});
      for (const auto& [field, of] : fields) variant.fields.push_back({field, of.type});
    }
    types_.define(type.type, std::move(made));
  }
  GraphType list_of(const GraphType& element) { return {types_.list_of(element.type)}; }
  std::size_t add_parameter(const std::string& name, const GraphType& type) {
    return builder_.add_parameter(name, type.type);
  }
  uint32_t declare(const std::string& name, const std::vector<std::pair<std::string, GraphType>>& params,
                   const std::vector<GraphType>& results, bool recompute) {
    std::vector<ir::ValueInfo> infos;
    for (const auto& [param, type] : params) infos.push_back({type.type, param});
    std::vector<Type> types;
    for (const GraphType& type : results) types.push_back(type.type);
    const FunctionRef made = builder_.declare(builder_.unused_name(name), std::move(infos), std::move(types));
    builder_.module()[made.id].recompute = recompute;
    return static_cast<uint32_t>(made.id.index());
  }
  void define(uint32_t function, const std::function<Ids(nb::object)>& body) {
    builder_.define({ir::FunctionId(function)}, [&](FunctionBuilder& f) {
      GraphBody made(f);
      const Ids results = body(nb::cast(&made, nb::rv_policy::reference));
      return Vars(std::span<const Var>(made.vars_of(results)));
    });
  }
  std::string function_name(uint32_t function) { return builder_.module()[ir::FunctionId(function)].name; }
  /// The function that gives the results of another and the gradients of the first by some of its parameters,
  /// or by all that hold floats.
  uint32_t declare_gradient(uint32_t of, const std::optional<std::vector<std::size_t>>& by) {
    ir::GradientForm form{.kind = ir::GradientForm::Kind::ValueAndGradients};
    if (by) {
      for (const std::size_t number : *by) form.wrt.push_back({.number = number});
    } else {
      // Objects and lists may hold floats too, but Python takes no gradients by them.
      const std::vector<ir::ValueInfo>& params = builder_.module().functions[of].params;
      for (std::size_t i = 0; i < params.size(); ++i) {
        if (!params[i].type.is_data() && is_float(params[i].type.dtype)) form.wrt.push_back({.number = i});
      }
    }
    return builder_.declare_gradient(builder_.unused_name("gradient"), {ir::FunctionId(of)}, form).id.index();
  }
  /// `merging`: whether values that are computed alike may become one. Objects that are made are not the
  /// same.
  std::shared_ptr<Source> finish(bool merging) {
    CompileOptions options;
    options.simplify.cse = merging;
    options.simplify.overflow = OverflowMode::Trap;
    return std::make_shared<Source>(builder_.finish(), options);
  }

 private:
  ModuleBuilder builder_;
  DataTypes types_ = builder_.module().data_types;  ///< those of the module: plans ask for them after finish
};

/// How a function of the catalogue is called from Python, for the converter.
nb::dict operation_table() {
  nb::dict table;
  for (const OpDef* op : catalog().all()) {
    if (op->fusion.value == Fusion::Data || op->takes_type || dtype_from_name(op->name.value)) continue;
    nb::list operands;
    for (std::string_view operand : op->operands.value) {
      if (operand.ends_with("...")) operand.remove_suffix(3);
      operands.append(std::string(operand));
    }
    nb::list attributes;
    for (const AttributeDef& def : op->attributes) {
      const nb::object otherwise = def.otherwise ? nb::cast(*def.otherwise) : nb::none();
      attributes.append(nb::make_tuple(python_name_of(def.name), def.is_list, otherwise, def.count));
    }
    nb::list reduced;  // the element types of which tensors of rank 0 stay as they are
    for (const DType dtype : {DType::Bool, DType::U8, DType::I32, DType::I64, DType::F32, DType::F64}) {
      if (reduces(*op) && reduces_numbers_of(*op, dtype)) reduced.append(std::string(name_of(dtype)));
    }
    table[python_name_of(op->name.value).c_str()] =
        nb::make_tuple(std::string(op->name.value), operands, op->is_variadic(), attributes,
                       operands_share_a_type(*op), reduced, takes_integers(*op));
  }
  return table;
}

GraphType type_of(const ElementType& element, const std::vector<int64_t>& dims) {
  std::vector<Dim> shape;
  for (const int64_t dim : dims) shape.push_back(dim < 0 ? unknown_dim() : Dim{dim, ""});
  return {Type(element.dtype, Shape(std::move(shape)))};
}

}  // namespace

void bind_graphs(nb::module_& m) {
  nb::class_<GraphType>(m, "GraphType")
      .def("__str__", [](const GraphType& type) { return to_string(type.type); })
      .def("__eq__", [](const GraphType& a, const GraphType& b) { return a.type == b.type; })
      .def_prop_ro("dtype", [](const GraphType& type) { return ElementType{type.type.dtype}; })
      .def_prop_ro("is_data", [](const GraphType& type) { return type.type.is_data(); })
      .def_prop_ro(
          "dims",
          [](const GraphType& type) {
            nb::list dims;
            for (const Dim& dim : type.type.shape) dims.append(dim.size);
            return nb::tuple(dims);
          },
          nb::sig("def dims(self) -> tuple[int, ...]"), "-1 stands for a size that only the run knows.")
      .attr("__hash__") = nb::none();
  m.def("graph_type", &type_of, nb::arg("dtype"), nb::arg("dims"));
  m.def(
      "attributes_from_text",
      [](const std::string& name, const std::string& text) {
        const OpDef* op = catalog().find(name);
        if (op == nullptr || op->attributes_from_text() == nullptr)
          throw nb::type_error((name + "(): expected tensors, found a string").c_str());
        const Attributes read = op->attributes_from_text()(text);
        return std::vector<int64_t>(read.begin(), read.end());
      },
      nb::arg("operation"), nb::arg("text"), "The attributes that an operation reads from a string.");
  m.def("operation_table", &operation_table, nb::sig("def operation_table() -> dict[str, typing.Any]"));
  nb::class_<GraphBody>(m, "GraphBody")
      .def("parameters", &GraphBody::parameters)
      .def("constant", &GraphBody::constant, nb::arg("number"), nb::arg("type"))
      .def("op", &GraphBody::op, nb::arg("name"), nb::arg("operands"), nb::arg("attributes"))
      .def("call", &GraphBody::call, nb::arg("function"), nb::arg("arguments"))
      .def("make", &GraphBody::make, nb::arg("type"), nb::arg("variant"), nb::arg("fields"))
      .def("variant", &GraphBody::variant, nb::arg("data"))
      .def("field", &GraphBody::field, nb::arg("data"), nb::arg("variant"), nb::arg("field"))
      .def("parameter", &GraphBody::parameter, nb::arg("number"))
      .def("begin_block", &GraphBody::begin_block)
      .def("end_block", &GraphBody::end_block, nb::arg("block"), nb::arg("results"))
      .def("finish_if", &GraphBody::finish_if, nb::arg("condition"), nb::arg("then"), nb::arg("otherwise"))
      .def("set_span", &GraphBody::set_span, nb::arg("begin"), nb::arg("end"))
      .def("type", &GraphBody::type, nb::arg("id"))
      .def("name", &GraphBody::name, nb::arg("id"), nb::arg("name"));
  nb::class_<GraphBuilder>(m, "GraphBuilder")
      .def(nb::init<>())
      .def("set_source", &GraphBuilder::set_source, nb::arg("name"), nb::arg("text"))
      .def("declare_data", &GraphBuilder::declare_data, nb::arg("name"))
      .def("define_data", &GraphBuilder::define_data, nb::arg("type"), nb::arg("variants"))
      .def("list_of", &GraphBuilder::list_of, nb::arg("element"))
      .def("add_parameter", &GraphBuilder::add_parameter, nb::arg("name"), nb::arg("type"))
      .def("declare", &GraphBuilder::declare, nb::arg("name"), nb::arg("parameters"), nb::arg("results"),
           nb::arg("recompute"))
      .def("define", &GraphBuilder::define, nb::arg("function"), nb::arg("body"))
      .def("function_name", &GraphBuilder::function_name, nb::arg("function"))
      .def("declare_gradient", &GraphBuilder::declare_gradient, nb::arg("of"), nb::arg("by") = nb::none())
      .def("finish", &GraphBuilder::finish, nb::arg("merging"));
}

}  // namespace hiaton::python
