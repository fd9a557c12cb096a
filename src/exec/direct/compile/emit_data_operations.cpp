// Operations on data values.
#include <algorithm>

#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/compile/operation_kinds.h"
#include "exec/graph_names.h"
#include "tensor/data_heap.h"

namespace hiaton::exec::direct {

namespace {

std::vector<FieldKind> heap_field_kinds(const DataType& type, std::size_t variant) {
  std::vector<FieldKind> kinds = field_kinds(type.variants[variant]);
  if (kinds.size() > kMostHeapFields || variant >= DataObject::kMostVariants) {
    throw Unplannable{"a data type has too many fields or variants"};
  }
  return kinds;
}

/// The header of a new value, with one reference to it.
uint64_t header_of(const DataType& type, std::size_t variant) {
  const uint64_t layout = FieldLayout(heap_field_kinds(type, variant)).code();
  return layout | (uint64_t{variant} << 1 | 1) << 16 | uint64_t{1} << 32;
}

/// Whether values of the type form chains: none has two fields of that type, and some have one.
bool is_list(const DataType& type) {
  std::ptrdiff_t most = 0;
  for (const Variant& variant : type.variants) {
    most = std::max(most, std::ranges::count_if(variant.fields, [&](const Field& field) {
                      return field.type.data.get() == &type;
                    }));
  }
  return most == 1;
}

Opcode form(Opcode one, std::size_t fields) {
  return static_cast<Opcode>(static_cast<std::size_t>(one) + std::min(fields, kMostFieldsNamed + 1) - 1);
}

}  // namespace

bool BodyEmitter::emit_data_op(const statements::Compute& compute) {
  const Node& node = graph_[compute.node];
  if (has_kernel(node)) return false;
  if (has_role(node, Role::Make)) {
    emit_make(compute);
  } else if (has_role(node, Role::Variant)) {
    emit_variant(compute.node);
  } else if (has_role(node, Role::Print)) {
    emit_print(compute);
  } else if (has_role(node, Role::Settle)) {
    emit_settle(compute);
  } else {
    emit_copy(compute);
  }
  return true;
}

void BodyEmitter::emit_make(const statements::Compute& compute) {
  const NodeId id = compute.node;
  const Node& node = graph_[id];
  const auto variant = static_cast<std::size_t>(node.attributes[0]);
  if (node.inputs.empty()) {
    const uint32_t index = emit(Opcode::Const);
    at(index).d = narrow(define(id));
    at(index).constant.bits = Data::bits_of_variant(static_cast<uint32_t>(variant));
    return;
  }
  const std::vector<MadeField> fields = fields_in_slots(id);
  emit_handover(compute.handover);
  emit_make_of(id, fields, define(id));
}

std::vector<BodyEmitter::MadeField> BodyEmitter::fields_in_slots(NodeId id) {
  const Node& node = graph_[id];
  const std::optional<std::size_t> held = held_field(graph_, structure_, node);
  std::vector<MadeField> fields;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Operand from = operand(node.inputs[i]);
    if (i == held) {
      fields.push_back({0, static_cast<int32_t>(from.constant.i64)});
    } else {
      fields.push_back({in_slot(from)});
    }
  }
  return fields;
}

void BodyEmitter::emit_make_of(NodeId id, const std::vector<MadeField>& fields, uint32_t to) {
  const Node& node = graph_[id];
  const std::size_t count = fields.size();
  const auto constant =
      std::ranges::find_if(fields, [](const MadeField& field) { return field.constant.has_value(); });
  const uint32_t index = emit(form(constant != fields.end() ? Opcode::MakeConst1 : Opcode::Make1, count), id);
  at(index).d = narrow(to);
  const uint64_t header = header_of(*node.type.data, static_cast<std::size_t>(node.attributes[0]));
  if (count <= kMostFieldsNamed) {
    at(index).number = header;
    for (std::size_t i = 0; i < count; ++i) at(index).takes[i] = fields[i].slot;
    if (count <= kMostFieldsNear && is_list(*node.type.data)) set_in_list(at(index));
    if (constant != fields.end()) {
      at(index).a = static_cast<uint16_t>(constant - fields.begin());
      at(index).jump = *constant->constant;
    }
  } else {
    MakeList list{header, {}};
    for (const MadeField& field : fields) list.slots.push_back(field.slot);
    plan_.make_lists.push_back(std::move(list));
    at(index).made = &plan_.make_lists.back();
    plan_.opcodes[index] = Opcode::MakeN;
  }
}

/// What was made just before and stands in the slot is returned by the instruction that makes it.
bool BodyEmitter::fuse_return_of_make(uint32_t slot) {
  const uint32_t last = here() - 1;
  const Opcode made = plan_.opcodes[last];
  if (made < Opcode::Make1 || made > Opcode::MakeConst4 || at(last).d != slot || last_label_ == here())
    return false;
  const auto form = static_cast<std::size_t>(made) - static_cast<std::size_t>(Opcode::Make1);
  plan_.opcodes[last] = static_cast<Opcode>(static_cast<std::size_t>(Opcode::ReturnMake1) + form);
  return true;
}

/// Right behind the test of the value's variant, reading a few fields is part of the test.
void BodyEmitter::emit_field(uint32_t to, uint32_t slot, uint32_t field) {
  const uint32_t test = here() - 1;
  const Opcode tested = plan_.opcodes[test];
  const bool follows_test = last_test_ == test && at(test).a == slot;
  const auto first_peek = [&](Opcode peek) {
    plan_.opcodes[test] = peek;
    at(test).d = narrow(to);
    at(test).number = (at(test).number << 16) | field;
  };
  const auto next_peek = [&](std::size_t count) {
    plan_.opcodes[test] = static_cast<Opcode>(static_cast<std::size_t>(tested) + 1);
    at(test).takes[2 * count - 2] = narrow(to);
    at(test).takes[2 * count - 1] = static_cast<uint16_t>(field);
  };
  const bool overwrites = to == slot;  // what is read next would be read of something else
  if (follows_test && !overwrites && tested == Opcode::UnlessObject) return first_peek(Opcode::PeekObject1);
  if (follows_test && !overwrites && tested == Opcode::UnlessVariant) return first_peek(Opcode::PeekVariant1);
  if (follows_test && tested >= Opcode::PeekObject1 && tested < Opcode::PeekVariant3 &&
      tested != Opcode::PeekObject3) {
    const Opcode one = tested < Opcode::PeekVariant1 ? Opcode::PeekObject1 : Opcode::PeekVariant1;
    return next_peek(static_cast<std::size_t>(tested) - static_cast<std::size_t>(one) + 1);
  }
  if (join_fields(to, slot, field)) return;
  const uint32_t index = emit(Opcode::Field);
  at(index).d = narrow(to);
  at(index).a = narrow(slot);
  at(index).number = field;
}

/// Fields of one value that are read one after the other are read by one instruction.
bool BodyEmitter::join_fields(uint32_t to, uint32_t slot, uint32_t field) {
  const uint32_t last = here() - 1;
  const Opcode before = plan_.opcodes[last];
  if ((before != Opcode::Field && before != Opcode::Field2) || last_label_ == here() || at(last).a != slot)
    return false;
  const std::size_t count = before == Opcode::Field ? 1 : 2;
  for (std::size_t i = 0; i < count; ++i) {
    if (peeked(at(last), i).slot == slot) return false;  // it stands for another value by now
  }
  at(last).takes[2 * count - 2] = narrow(to);
  at(last).takes[2 * count - 1] = static_cast<uint16_t>(field);
  plan_.opcodes[last] = count == 1 ? Opcode::Field2 : Opcode::Field3;
  return true;
}

void BodyEmitter::emit_copy(const statements::Compute& compute) {
  const NodeId id = compute.node;
  const Node& node = graph_[id];
  const Operand from = operand(node.inputs[0]);
  emit_handover(compute.handover);
  emit_move(define(id), from);
}

bool BodyEmitter::emit_string_read(NodeId id) {
  const Node& node = graph_[id];
  const bool reads_length = is_string_length(node);
  if (!reads_length && !is_code_point(node)) return false;
  const uint16_t string = in_slot(operand(node.inputs[0]));
  const uint16_t index = reads_length ? 0 : in_slot(operand(node.inputs[1]));
  const uint32_t at_index = emit(reads_length ? Opcode::StringLength : Opcode::CodePoint, id);
  at(at_index).a = string;
  at(at_index).b() = index;
  at(at_index).d = narrow(define(id));
  return true;
}

void BodyEmitter::emit_print(const statements::Compute& compute) {
  const uint16_t text = in_slot(operand(graph_[compute.node].inputs[1]));
  at(emit(Opcode::Print, compute.node)).a = text;
  emit_copy(compute);
}

/// The suspension becomes the variant 0, with as many fields as it has: the others hold nothing.
void BodyEmitter::emit_settle(const statements::Compute& compute) {
  const Node& node = graph_[compute.node];
  const DataType& type = *graph_[structure_.origin(node.inputs[1])].type.data;
  const std::size_t fields = type.variants[static_cast<std::size_t>(node.attributes[0])].fields.size();
  std::vector<FieldKind> kinds(fields, FieldKind::Bool);
  kinds[0] = heap_field_kinds(type, 0)[0];
  const uint16_t value = in_slot(operand(node.inputs[0]));
  const uint16_t suspension = in_slot(operand(node.inputs[1]));
  const uint32_t index = emit(Opcode::Settle, compute.node);
  at(index).a = suspension;
  at(index).b() = value;
  at(index).number = FieldLayout(kinds).code();
  emit_copy(compute);
}

void BodyEmitter::emit_statement(const statements::ReadFields& reads) {
  const uint16_t slot = in_slot(operand({reads.value, 0}));
  if (reads.requires_variant) {
    const uint32_t index = emit(Opcode::RequireVariant, reads.node);
    at(index).a = slot;
    at(index).number = reads.variant;
  }
  std::vector<std::pair<uint32_t, uint32_t>> slots;
  for (NodeId field : reads.earlier) {
    slots.emplace_back(static_cast<uint32_t>(graph_[field].attributes[1]), slot_of_.at(field));
  }
  for (NodeId field : reads.fields) {
    const uint32_t to = define(field);
    const auto number = static_cast<uint32_t>(graph_[field].attributes[1]);
    if (reads.takes_apart) {
      slots.emplace_back(number, to);
    } else {
      emit_field(to, slot, number);
    }
  }
  if (!reads.takes_apart) return;
  emit_take(reads.value, reads.variant, slots);
  forget_params({&reads.value, 1});
}

/// A Take of a value in this slot. Right behind the test of its variant, both become one instruction.
uint32_t BodyEmitter::emit_match(uint32_t slot, std::size_t fields) {
  const uint32_t test = here() - 1;
  const Opcode tested = plan_.opcodes[test];
  const bool fuses = last_test_ == test && fields <= kMostFieldsNamed && at(test).a == slot &&
                     (tested == Opcode::UnlessObject || tested == Opcode::UnlessVariant);
  if (!fuses) {
    const uint32_t index = emit(form(Opcode::Take1, fields));
    at(index).a = narrow(slot);
    return index;
  }
  at(test).d = static_cast<uint16_t>(at(test).number);
  plan_.opcodes[test] =
      form(tested == Opcode::UnlessObject ? Opcode::MatchObject1 : Opcode::MatchVariant1, fields);
  return test;
}

void BodyEmitter::emit_take(NodeId value, uint32_t variant,
                            const std::vector<std::pair<uint32_t, uint32_t>>& slots) {
  const std::vector<FieldKind> kinds = heap_field_kinds(*graph_[value].type.data, variant);
  const auto type_of = [&](std::size_t field) { return field_type(graph_[value].type, variant, field); };
  TakeList list;
  for (FieldKind kind : kinds) list.fields.push_back({direct::kNoSlot, kind});
  std::vector<std::pair<uint32_t, uint32_t>> copies;  ///< fields that are read twice
  for (const auto& [field, slot] : slots) {
    // A field of another variant is live only where the branches around contradict each other.
    if (field >= kinds.size()) continue;
    uint16_t& to = list.fields[field].slot;
    if (to != direct::kNoSlot) {
      copies.emplace_back(to, slot);
    } else {
      to = narrow(slot);
    }
  }
  // The instruction moves all fields: those that nothing reads to where nobody looks, or from where they are
  // released.
  std::vector<std::size_t> released;
  std::optional<uint16_t> unread;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (list.fields[i].slot != direct::kNoSlot) continue;
    const bool is_released = may_refer(type_of(i));
    if (!is_released && unread) continue;
    const uint16_t slot = narrow(reader_.next_temporary());
    if (is_released) {
      list.fields[i].slot = slot;
      released.push_back(i);
    } else {
      unread = slot;
    }
  }
  plan_.take_lists.push_back(std::move(list));
  const std::vector<TakeList::Field>& fields = plan_.take_lists.back().fields;
  const uint32_t index = emit_match(slot_of_.at(value), kinds.size());
  at(index).taken = &plan_.take_lists.back();
  if (kinds.size() <= kMostFieldsNamed) {
    for (std::size_t i = 0; i < kinds.size(); ++i)
      at(index).takes[i] = fields[i].slot != direct::kNoSlot ? fields[i].slot : *unread;
  }
  for (const std::size_t field : released) emit_release(type_of(field), fields[field].slot);
  for (const auto& [from, to] : copies) {
    emit_move(to, {false, Slot(), from});
    const auto field =
        std::ranges::find_if(slots, [&, from = from](const auto& one) { return one.second == from; });
    if (is_reference(kinds[field->first])) emit_retain(type_of(field->first), to);
  }
}

// --- Variants --------------------------------------------------------------------------------------------

void BodyEmitter::emit_variant(NodeId id) {
  const uint16_t slot = in_slot(operand(graph_[id].inputs[0]));
  const uint32_t index = emit(Opcode::VariantOf);
  at(index).d = narrow(define(id));
  at(index).a = slot;
}

uint32_t BodyEmitter::emit_variant_branch(const Ownership::VariantTest& test) {
  const std::vector<Variant>& variants = graph_[test.data].type.data->variants;
  const auto has_fields = [](const Variant& variant) { return !variant.fields.empty(); };
  const bool exists = test.variant < variants.size();
  Opcode opcode = Opcode::UnlessVariant;
  uint64_t number = test.variant;
  if (exists && !has_fields(variants[test.variant])) {
    opcode = Opcode::UnlessImmediate;
    number = Data::bits_of_variant(test.variant);
  } else if (exists && std::ranges::count_if(variants, has_fields) == 1) {
    opcode = Opcode::UnlessObject;
  }
  const uint16_t slot = in_slot(operand({test.data, 0}));
  const uint32_t branch = emit(opcode);
  at(branch).a = slot;
  at(branch).number = number;
  last_test_ = branch;
  return branch;
}

}  // namespace hiaton::exec::direct
