// Regions that run for one frame at a time.
#include "base/check.h"
#include "exec/flow/worker.h"

namespace hiaton::exec::flow {
namespace {

/// Without a reference of its own.
Cell cell_of_tensor(const Value& value) {
  Cell cell;
  cell.owner = value.slot().tensor;
  cell.set_elements(cell.owner->elements);
  return cell;
}

}  // namespace

/// Without a reference of its own.
Cell Worker::borrow(const Frame* frame, const Source& source) const {
  switch (source.from) {
    case Source::From::Slot:
      return layout(frame).load(frame, source.index);
    case Source::From::Step:
      return made_[source.index];
    case Source::From::Constant: {
      const Value& constant = plan_.constants[source.index];
      if (constant.is_tensor()) return cell_of_tensor(constant);
      Cell cell;
      cell.slot = constant.slot();
      return cell;
    }
    case Source::From::Parameter:
      return cell_of_tensor(options_->parameters[source.index]);
  }
  return {};
}

/// Of a scalar or a data value, likewise.
Slot Worker::borrow_slot(const Frame* frame, const Source& source) const {
  if (source.from == Source::From::Step) return made_[source.index].slot;
  if (source.from != Source::From::Slot) return borrow(frame, source).slot;
  Slot slot;
  std::memcpy(&slot, layout(frame).address(frame, source.index), sizeof slot);
  return slot;
}

/// The results of its steps are kept until its end, or in the frame.
void Worker::run_scalars(Frame* frame, const Region& region) {
  ++firings_[static_cast<std::size_t>(&region - plan_.regions.data())];
  const FrameLayout& own = layout(frame);
  std::size_t made = 0;
  const auto let_go = [&] {
    for (const uint32_t i : region.held) {
      if (i < made) release(region.steps[i].kind, made_[i]);
    }
  };
  try {
    for (const Step& step : region.steps) {
      const Cell& cell = made_[made] = run_step(frame, step);
      ++made;
      if (step.slot) own.store(frame, *step.slot, cell);
    }
  } catch (...) {
    let_go();
    throw;
  }
  let_go();
}

Cell Worker::run_step(Frame* frame, const Step& step) {
  Cell out;
  switch (step.code) {
    case Step::Code::Kernel: {
      constexpr std::size_t kMostOperands = 8;
      Slot slots[kMostOperands];
      for (std::size_t i = 0; i < step.operands.size(); ++i) slots[i] = borrow_slot(frame, step.operands[i]);
      const Fault fault = step.kernel(slots, &out.slot);
      if (fault != Fault::None) fail(frame, step, fault);
      break;
    }
    case Step::Code::Variant:
      out.slot = make_slot(int64_t{borrow_slot(frame, step.operands[0]).data->variant});
      break;
    case Step::Code::Field: {
      const Attributes& place = (*graph_)[step.node].attributes;  // variant and field
      const DataObject& data = *borrow_slot(frame, step.operands[0]).data;
      if (data.variant != place[0]) fail(frame, step, Fault::Index);
      return cell_of(data.fields()[static_cast<std::size_t>(place[1])]);
    }
    case Step::Code::FieldOrZero:
      return field_or_zero(frame, step);
    case Step::Code::Copy:
      out = borrow(frame, step.operands[0]);
      retain(step.kind, out);
      break;
    case Step::Code::Make: {
      fetch_operands(frame, step, fields_);
      const auto variant = static_cast<uint32_t>((*graph_)[step.node].attributes[0]);
      out.slot.data = Data::take(variant, fields_).detach();
      break;
    }
    case Step::Code::Tensor:
    case Step::Code::View:
    case Step::Code::Product:
    case Step::Code::Nothing:
    case Step::Code::Accumulate:
    case Step::Code::GatherTogether:
    case Step::Code::Row:
      HIATON_CHECK(!"a step of a scalar region");
  }
  return out;
}

/// Of the operand `like` it needs the shape alone.
Cell Worker::field_or_zero(Frame* frame, const Step& step) {
  const graph::Node& node = (*graph_)[step.node];
  const DataObject* data = borrow_slot(frame, step.operands[0]).data;
  if (data->variant != 0) {
    if (data->variant != node.attributes[0]) fail(frame, step, Fault::Index);
    const Value& field = data->fields()[static_cast<std::size_t>(node.attributes[1])];
    if (!node.type.is_tensor()) return cell_of(field);
    data = field.slot().data;
    if (data->variant != 0) return cell_of(data->fields()[0]);
  }
  if (node.type.is_data()) return cell_of(Data(0, {}));
  if (node.type.is_scalar()) return cell_of(zero_of(node.type.dtype));
  return cell_of(Tensor(node.type.dtype, borrow(frame, step.operands[1]).dims()));
}

void Worker::fetch_operands(Frame* frame, const Step& step, std::vector<Value>& values) const {
  values.clear();
  const graph::Node& node = (*graph_)[step.node];
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const Source& source = step.operands[i];
    if (source.from == Source::From::Constant) {
      values.push_back(plan_.constants[source.index]);
    } else {
      values.push_back(to_value(borrow(frame, source), type_of(node.inputs[i])));
    }
  }
}

const Type& Worker::type_of(graph::OutPort port) const {
  return (*graph_)[port.node].type;
}

}  // namespace hiaton::exec::flow
