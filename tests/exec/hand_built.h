// Graphs that no program text gives: built node by node.
#pragma once

#include <string_view>
#include <vector>

#include "hiaton/graph.h"
#include "hiaton/op.h"

namespace hiaton::exec::testing {

using graph::CallSite;
using graph::FunctionId;
using graph::Graph;
using graph::GraphBuilder;
using graph::LoopId;
using graph::NodeId;
using graph::OutPort;

/// A graph builder that takes operations by name.
class Hand : public GraphBuilder {
 public:
  OutPort apply(std::string_view name, const std::vector<OutPort>& inputs) {
    return op(*catalog().find(name), inputs);
  }
  OutPort add1(OutPort a) { return apply("add", {a, constant(int64_t{1})}); }
  /// A Const that gives its token when `trigger` does.
  OutPort constant_after(OutPort trigger, Value value) {
    const OutPort port = constant(value);
    add_control(port.node, trigger);
    return port;
  }
  /// The next parameter of the current function, with a Merge that calls are to be connected to.
  OutPort param(std::string name, Type type = DType::I64) {
    const OutPort merge = this->merge(type);
    node(merge).name = name;
    add_param(std::move(name), merge);
    return merge;
  }
  /// The next argument of a call site, connected to the parameter.
  NodeId argument(CallSite site, OutPort value, OutPort parameter) {
    const NodeId id = call(site, value);
    add_input(parameter, {id});
    return id;
  }
  OutPort int_input(std::string name) { return input(std::move(name), DType::I64); }
  OutPort bool_input(std::string name) { return input(std::move(name), DType::Bool); }
};

}  // namespace hiaton::exec::testing
