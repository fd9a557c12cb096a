#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

Operand BodyEmitter::operand(OutPort port) const {
  const NodeId value = structure_.origin(port);
  if (is_known(graph_[value])) return {true, graph_[value].constant.slot()};
  const auto found = slot_of_.find(value);
  HIATON_CHECK(found != slot_of_.end());
  return {false, Slot(), found->second};
}

uint16_t BodyEmitter::in_slot(const Operand& from) {
  if (!from.is_constant) return narrow(from.slot);
  const uint32_t slot = reader_.next_temporary();
  emit_move(slot, from);
  return narrow(slot);
}

void BodyEmitter::emit_moves(std::vector<Move> moves) {
  make_moves(
      std::move(moves), [this] { return reader_.next_temporary(); },
      [this](uint32_t to, const Operand& from) { emit_move(to, from); });
}

}  // namespace hiaton::exec::direct
