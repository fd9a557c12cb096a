// Regions that run for one frame at a time.
#include "base/check.h"
#include "exec/firing.h"
#include "exec/flow/run/flow_worker.h"

namespace hiaton::exec::flow {

Cell Worker::borrow(const Frame* frame, const Source& source) const {
  switch (source.from) {
    case Source::From::Slot:
      return layout(frame).load(frame, source.index);
    case Source::From::Step:
      return made_[source.index];
    case Source::From::Constant:
      return flow::borrow(plan_.constants[source.index]);
    case Source::From::Parameter:
      return flow::borrow(options_->parameters[source.index]);
  }
  return {};
}

[[gnu::always_inline]] inline Cell Worker::run_step(Frame* frame, const Step& step) {
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
      out.slot = make_slot(int64_t{Data::variant_of(borrow_slot(frame, step.operands[0]).data)});
      break;
    case Step::Code::Field: {
      const DataObject* data = borrow_slot(frame, step.operands[0]).data;
      if (Data::variant_of(data) != step.variant) fail(frame, step, Fault::Index);
      out = flow::borrow(step.kind, data->slots()[step.field]);
      retain(step.kind, out);
      return out;
    }
    case Step::Code::FieldOrZero:
      return field_or_zero(frame, step);
    case Step::Code::Values:
      return run_on_values(frame, step);
    case Step::Code::Print:
      print_line(*options_, code_points_of(borrow_slot(frame, step.operands[1]).data));
      [[fallthrough]];
    case Step::Code::Copy:
      out = borrow(frame, step.operands[0]);
      retain(step.kind, out);
      break;
    case Step::Code::Make:
      out.slot.data = make_data(frame, step);
      break;
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

/// The operand `like` is there for its shape alone.
Cell Worker::field_or_zero(Frame* frame, const Step& step) {
  const graph::Node& node = (*graph_)[step.node];
  const DataObject* data = borrow_slot(frame, step.operands[0]).data;
  if (Data::variant_of(data) != 0) {
    if (Data::variant_of(data) != step.variant) fail(frame, step, Fault::Index);
    const ValueView field = DataFields(data).view(step.field);
    if (!node.type.is_tensor()) return cell_of(field);
    data = field.slot.data;
    if (Data::variant_of(data) != 0) return cell_of(DataFields(data).view(0));
  }
  if (node.type.is_data()) return cell_of(Value(Data(0, {})));
  if (node.type.is_scalar()) return cell_of(zero_of(node.type.dtype));
  return cell_of(Value(Tensor(node.type.dtype, borrow(frame, step.operands[1]).dims())));
}

DataObject* Worker::make_data(Frame* frame, const Step& step) {
  fields_.clear();
  try {
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      const Source& source = step.operands[i];
      const FieldKind kind = step.layout.kind(i);
      Slot field;
      if (kind == FieldKind::Tensor) {
        field.tensor = take_tensor(borrow(frame, source));
      } else if (source.last) {
        field = layout(frame).take(frame, source.index).slot;
      } else {
        field = borrow_slot(frame, source);
        if (kind == FieldKind::Data) Data::retain(field.data);
      }
      fields_.push_back(field);
    }
  } catch (...) {
    Data::release_slots(step.layout, fields_);
    throw;
  }
  return Data::take(step.variant, step.layout, fields_).detach();
}

Cell Worker::run_on_values(Frame* frame, const Step& step) {
  const graph::Node& node = (*graph_)[step.node];
  std::vector<Value> operands;
  for (std::size_t i = 0; i < step.operands.size(); ++i) operands.push_back(fetch_operand(frame, step, i));
  Value result;
  const Fault fault = node.op->value_kernel(operands, node.attributes, result);
  if (fault != Fault::None) fail(frame, step, fault);
  return cell_of(result);
}

Value Worker::fetch_operand(const Frame* frame, const Step& step, std::size_t index) const {
  const Source& source = step.operands[index];
  if (source.from == Source::From::Constant) return plan_.constants[source.index];
  const graph::NodeId node = (*graph_)[step.node].inputs[index].node;
  return to_value(borrow(frame, source), (*graph_)[node].type);
}

}  // namespace hiaton::exec::flow
