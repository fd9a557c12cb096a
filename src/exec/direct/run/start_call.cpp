#include <algorithm>

#include "exec/direct/run/interpret.h"

namespace hiaton::exec::direct {

Frame* replace_frame(Worker& worker, Frame* frame, uint32_t slots) {
  Frame* parent = frame->parent;
  Frame* larger = worker.pool.insert(worker.anchor->child == frame ? worker.anchor : parent, slots);
  if (larger == nullptr) return nullptr;
  larger->parent = parent;
  larger->resume = frame->resume;
  return larger;
}

Frame* start_call(Worker& worker, Frame* caller, const Instruction* call) {
  const Opcode opcode = worker.plan.opcode(call);
  const bool is_tail = is_tail_call(opcode);
  // Before anything is written: a tail call overwrites the slots it reads.
  const std::size_t count = worker.plan.read_passed(caller->slots, call, worker.passed);
  const Instruction* entry = passes_list(opcode) ? call->calls->target : call->target;
  if (worker.hungry > 0 && entry[-1].a != 0) {
    entry = entry[-1].target;
    worker.hungry = 0;
  }
  const uint16_t slots = entry[-1].d;
  Frame* callee = is_tail ? caller : caller->child;
  if (callee->capacity < slots) {
    callee = is_tail ? replace_frame(worker, caller, slots) : worker.pool.insert(caller, slots);
    if (callee == nullptr) return nullptr;
  }
  if (!is_tail) callee->resume = call + 1;
  std::copy_n(worker.passed.begin(), count, callee->slots);
  worker.pc = entry;
  return callee;
}

}  // namespace hiaton::exec::direct
