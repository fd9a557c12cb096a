#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/product_of_sizes.h"
#include "graph/json_place.h"
#include "graph/json_types.h"
#include "graph/json_values.h"
#include "hiaton/error.h"
#include "hiaton/graph.h"

namespace hiaton::graph {
namespace {

nlohmann::json parse(std::string_view text, const std::string& file) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t offset = error.byte > 0 ? error.byte - 1 : 0;
    const LineColumn at = Source(file, std::string(text)).locate(static_cast<uint32_t>(offset));
    if (offset >= text.size()) {
      throw ProgramError(fmt::format("{}:{}:{}: expected more of a saved graph, found the end of the file",
                                     file, at.line, at.column));
    }
    throw ProgramError(fmt::format("{}:{}:{}: expected a saved graph, found text that is not JSON", file,
                                   at.line, at.column));
  } catch (const nlohmann::json::exception& error) {
    throw ProgramError(
        fmt::format("{}: expected a saved graph, found JSON that cannot be read: {}", file, error.what()));
  }
}

std::shared_ptr<const Source> read_source(const JsonPlace& place) {
  if (place.is_null()) return nullptr;
  place.require_fields({"name", "text"});
  return std::make_shared<Source>(place.field("name").text(), place.field("text").text());
}

class GraphReader {
 public:
  explicit GraphReader(const JsonPlace& file)
      : builder_(read_source(file.field("source"))),
        function_count_(file.field("functions").size()),
        site_count_(file.field("sites").size()),
        loop_count_(file.field("loops").size()),
        node_count_(file.field("nodes").size()) {
    if (file.has("data_types")) types_.read_data_types(file.field("data_types"));
    if (file.has("parameters")) {
      const JsonPlace parameters = file.field("parameters");
      for (std::size_t i = 0; i < parameters.size(); ++i) read_parameter(parameters[i]);
    }
    const JsonPlace functions = file.field("functions");
    const JsonPlace sites = file.field("sites");
    const JsonPlace loops = file.field("loops");
    const JsonPlace nodes = file.field("nodes");
    for (std::size_t i = 0; i < function_count_; ++i) read_function(functions[i]);
    for (std::size_t i = 0; i < site_count_; ++i) read_site(sites[i]);
    for (std::size_t i = 0; i < loop_count_; ++i) read_loop(loops[i]);
    for (std::size_t i = 0; i < node_count_; ++i) read_node(nodes[i]);
  }

  Graph finish() { return builder_.finish(); }

 private:
  void read_parameter(const JsonPlace& place) {
    place.require_fields({"name", "type", "initial", "number", "placement"});
    const JsonPlace initial = place.field("initial");
    const std::optional<Initializer::Kind> kind = initializer_from_name(initial.text());
    if (!kind) initial.fail(fmt::format("expected how a parameter begins, found '{}'", initial.text()));
    Initializer read{.kind = *kind};
    if (takes_number(*kind)) read.number = read_value(place.field("number"), DType::F64).as<double>();
    builder_.add_parameter(place.field("name").text(), types_.read(place.field("type")), read,
                           read_text(place, "placement"));
    ++parameter_count_;
  }

  void read_function(const JsonPlace& place) {
    place.require_fields({"name", "params", "results", "triggered", "phases", "placement", "span"});
    Function& function =
        builder_.function(builder_.add_function(place.field("name").text(), read_span(place)));
    const JsonPlace params = place.field("params");
    for (std::size_t i = 0; i < params.size(); ++i) {
      const JsonPlace param = params[i];
      param.require_fields({"name", "from"});
      function.param_names.push_back(param.field("name").text());
      function.params.push_back(read_edge(param.field("from")));
    }
    function.results = read_edges(place.field("results"));
    if (place.has("triggered")) function.triggered = place.field("triggered").boolean();
    if (place.has("phases")) {
      const JsonPlace phases = place.field("phases");
      for (std::size_t i = 0; i < phases.size(); ++i) {
        const JsonPlace phase = phases[i];
        if (phase.size() != 2) phase.fail("expected how many parameters and results the phase has");
        function.phases.push_back({phase[0].number(), phase[1].number()});
      }
    }
    function.placement = read_text(place, "placement");
  }

  void read_site(const JsonPlace& place) {
    place.require_fields({"caller", "callee", "span"});
    builder_.in_function(read_function_id(place.field("caller")));
    builder_.add_site(read_function_id(place.field("callee")), read_span(place));
  }

  void read_loop(const JsonPlace& place) {
    place.require_fields({"function", "span"});
    builder_.in_function(read_function_id(place.field("function")));
    builder_.add_loop(read_span(place));
  }

  void read_node(const JsonPlace& place) {
    place.require_fields({"kind", "op", "attributes", "value", "parameter", "site", "loop", "loop_constant",
                          "inputs", "controls", "type", "function", "name", "placement", "span"});
    Node node{.kind = read_kind(place.field("kind"))};
    node.type = types_.read(place.field("type"));
    node.function = read_function_id(place.field("function"));
    if (place.has("inputs")) node.inputs = read_edges(place.field("inputs"));
    if (place.has("controls")) node.controls = read_edges(place.field("controls"));
    if (node.kind == NodeKind::Op) node.op = &read_op(place.field("op"));
    if (node.kind != NodeKind::Const && place.has("attributes"))
      node.attributes = read_attributes(place.field("attributes"));
    if (place.has("parameter") || node.kind == NodeKind::Accumulate) {
      node.parameter = static_cast<int32_t>(place.field("parameter").index(parameter_count_, "a parameter"));
    } else if (node.kind == NodeKind::Const) {
      node.constant = read_constant(place.field("value"), node.type);
    }
    if (node.kind == NodeKind::Call || node.kind == NodeKind::Return) {
      node.site = CallSite(place.field("site").index(site_count_, "a call site"));
    }
    if (node.kind == NodeKind::Enter || node.kind == NodeKind::Exit || node.kind == NodeKind::NextIteration) {
      node.loop = LoopId(place.field("loop").index(loop_count_, "a loop"));
    }
    if (place.has("loop_constant")) node.loop_constant = place.field("loop_constant").boolean();
    node.name = read_text(place, "name");
    node.placement = read_text(place, "placement");
    node.span = read_span(place);
    builder_.add(std::move(node));
  }

  static NodeKind read_kind(const JsonPlace& place) {
    const std::string name = place.text();
    for (int i = 0; i <= static_cast<int>(NodeKind::NextIteration); ++i) {
      if (name_of(static_cast<NodeKind>(i)) == name) return static_cast<NodeKind>(i);
    }
    place.fail(fmt::format("expected a kind of node, found '{}'", name));
  }

  static const OpDef& read_op(const JsonPlace& place) {
    const std::string name = place.text();
    const OpDef* op = catalog().find(name);
    if (op == nullptr) place.fail(fmt::format("there is no operation '{}'", name));
    return *op;
  }

  static std::vector<int64_t> read_attributes(const JsonPlace& place) {
    std::vector<int64_t> attributes;
    for (std::size_t i = 0; i < place.size(); ++i) {
      attributes.push_back(
          place[i].integer(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
    }
    return attributes;
  }

  static Value read_constant(const JsonPlace& place, const Type& type) {
    if (is_string(type)) return read_string(place);
    if (type.is_data()) return Data(place.index(type.data->variants.size(), "a variant"), {});
    return type.is_scalar() ? read_value(place, type.dtype) : read_tensor(place, type);
  }

  static Value read_string(const JsonPlace& place) {
    try {
      return place.text();
    } catch (const ProgramError& error) {
      place.fail(error.what());
    }
  }

  static Value read_tensor(const JsonPlace& place, const Type& type) {
    std::vector<int64_t> dims;
    for (const Dim& dim : type.shape) {
      if (dim.size < 0)
        place.fail(fmt::format("expected a constant of fixed dimensions, found {}", to_string(type)));
      dims.push_back(dim.size);
    }
    const std::optional<std::size_t> expected = product_of_sizes(1, dims);
    if (!expected) place.fail("a tensor is too large for the memory of this machine");
    if (place.size() != *expected) {
      place.fail(fmt::format("expected {} elements, found {}", *expected, place.size()));
    }
    Tensor tensor(type.dtype, dims);
    const std::size_t size = size_of(type.dtype);
    for (std::size_t i = 0; i < *expected; ++i) {
      const Value element = read_value(place[i], type.dtype);
      std::memcpy(tensor.mutable_data<std::byte>() + i * size, &element.slot(), size);
    }
    return tensor;
  }

  static Value read_value(const JsonPlace& place, DType dtype) {
    try {
      return load_value(dtype, place.text());
    } catch (const ProgramError& error) {
      place.fail(error.what());
    }
  }

  OutPort read_edge(const JsonPlace& place) const {
    if (!place.is_array()) return {NodeId(place.index(node_count_, "a node"))};
    if (place.size() != 2) place.fail("expected a node and one of its outputs");
    return {NodeId(place[0].index(node_count_, "a node")), place[1].number()};
  }

  std::vector<OutPort> read_edges(const JsonPlace& place) const {
    std::vector<OutPort> edges;
    for (std::size_t i = 0; i < place.size(); ++i) edges.push_back(read_edge(place[i]));
    return edges;
  }

  FunctionId read_function_id(const JsonPlace& place) const {
    return FunctionId(place.index(function_count_, "a function"));
  }

  static std::string read_text(const JsonPlace& place, std::string_view field) {
    return place.has(field) ? place.field(field).text() : "";
  }

  static Span read_span(const JsonPlace& place) {
    if (!place.has("span")) return {};
    const JsonPlace span = place.field("span");
    if (span.size() != 2) span.fail("expected where it begins and where it ends");
    return {span[0].number(), span[1].number()};
  }

  GraphBuilder builder_;
  TypeReader types_;
  std::size_t parameter_count_ = 0;
  const std::size_t function_count_;
  const std::size_t site_count_;
  const std::size_t loop_count_;
  const std::size_t node_count_;
};

}  // namespace

Graph from_json(std::string_view text, const std::string& file_name) {
  const nlohmann::json root = parse(text, file_name);
  const JsonPlace file(root, file_name);
  file.require_fields(
      {"format", "version", "source", "data_types", "parameters", "functions", "sites", "loops", "nodes"});
  if (const std::string format = file.field("format").text(); format != kFormatName) {
    file.field("format").fail(fmt::format("expected '{}', found '{}'", kFormatName, format));
  }
  if (const uint32_t version = file.field("version").number(); version != kFormatVersion) {
    file.field("version").fail(fmt::format("expected version {}, found {}", kFormatVersion, version));
  }
  GraphReader reader(file);
  try {
    return reader.finish();
  } catch (const ProgramError& error) {
    throw ProgramError(fmt::format("{}: {}", file_name, error.what()));
  }
}

}  // namespace hiaton::graph
