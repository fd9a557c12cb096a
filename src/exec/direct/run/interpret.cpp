#include "exec/direct/run/interpret.h"

#include <map>
#include <span>
#include <utility>

#include "exec/direct/run/instruction_pairs.h"
#include "exec/direct/run/sent_calls.h"
#include "exec/direct/run/take_apart.h"
#include "kernels/bits.h"
#include "kernels/scalar.h"

// Addresses of labels are an extension that gcc and clang share.
#pragma GCC diagnostic ignored "-Wpedantic"

namespace hiaton::exec::direct {

using namespace kernels;

namespace {

/// Where the code of a pair of instructions stands.
struct PairLabel {
  std::pair<Opcode, Opcode> opcodes;
  const void* label;
};
/// Where the code of each opcode stands, and that of each pair of instruction_pairs.h.
struct Labels {
  const void* const* handlers;
  std::span<const PairLabel> of_pairs;
};

/// The interpreter proper. With `labels`, only tells where its code stands.
///
/// It keeps the frame `f` and the instruction that runs, `pc`, in registers. In the common case no
/// instruction touches memory that another worker writes, but for the relaxed load of `poll`.
///
/// The code of opcode X stands at the label at_X; instruction.h says what the operands of each are. It ends
/// by one of these:
///   NEXT, GO              The next instruction runs, or the one that `pc` has been set to.
///   goto failed           The run ends with `fault`. Labels above it find out first which fault it is.
///   goto polled_...       Somebody has raised `poll`; only calls, and jumps back, look at it.
///   goto wait_for_stolen  Calls of a group that others have taken are waited for.
///   return                This worker goes on elsewhere.
/// `worker->frame` and `worker->pc` say where this worker is once one of the last four is reached; before
/// that, nobody may read them.
Outcome execute(Worker* worker, Frame* f, const Instruction* pc, Labels* labels) {
  static const void* const handlers[] = {
#define HIATON_OPCODE(Name) &&at_##Name,
      HIATON_ALL_OPCODES
#undef HIATON_OPCODE
  };
  static const PairLabel of_pairs[] = {
#define HIATON_PAIR(T, Name, F, form, NextName, NextF, next_form) \
  {{Opcode::Name##_##form, Opcode::NextName##_##next_form}, &&at_##Name##_##form##_##NextName##_##next_form},
      HIATON_INSTRUCTION_PAIRS(HIATON_PAIR)
#undef HIATON_PAIR
  };
  if (labels != nullptr) {
    *labels = {handlers, of_pairs};
    return Outcome::Halted;
  }

  const std::atomic<bool>& poll = worker->poll;
  Fault fault = Fault::None;
  Slot result{};  // what the latest instruction gave that says so: see the Result forms

#define GO goto * pc->handler
#define NEXT \
  do {       \
    ++pc;    \
    GO;      \
  } while (false)
  GO;

  // --- Calls and returns ---

#define PASS(i, slot) \
  callee->slots[i].bits = f->slots[slot].bits + static_cast<uint64_t>(int64_t{pc->plus[i]})
#define PASS_LAST callee->slots[3] = f->slots[static_cast<uint16_t>(pc->plus[3])]
#define PASS_CONSTANT callee->slots[pc->plus[3]].i64 = pc->plus[pc->plus[3]]
#define CALL(Name, target_entry, pass_arguments)           \
  at_##Name : {                                            \
    if (poll.load(std::memory_order_relaxed)) [[unlikely]] \
      goto polled_call;                                    \
    const Instruction* entry = target_entry;               \
    Frame* callee = f->child;                              \
    if (callee->capacity < entry[-1].d) [[unlikely]] {     \
      callee = worker->pool.insert(f, entry[-1].d);        \
      if (callee == nullptr) goto out_of_frames;           \
    }                                                      \
    callee->resume = pc + 1;                               \
    pass_arguments;                                        \
    f = callee;                                            \
    pc = entry;                                            \
    GO;                                                    \
  }
  CALL(Call1, pc->target, PASS(0, pc->a))
  CALL(Call2, pc->target, PASS(0, pc->a); PASS(1, pc->b()))
  CALL(Call3, pc->target, PASS(0, pc->a); PASS(1, pc->b()); PASS(2, pc->c()))
  CALL(Call4, pc->target, PASS(0, pc->a); PASS(1, pc->b()); PASS(2, pc->c()); PASS_LAST)
  CALL(CallN, pc->calls->target, {
    Slot* to = callee->slots;
    for (const Argument& argument : pc->calls->arguments) argument.pass(f->slots, to++);
  })
  CALL(Call2Const, pc->target, PASS(0, pc->a); PASS(1, pc->b()); PASS_CONSTANT)
  CALL(Call3Const, pc->target, PASS(0, pc->a); PASS(1, pc->b()); PASS(2, pc->c()); PASS_CONSTANT)
#undef CALL

  // The callee takes over the caller's frame: it returns where the caller would have.
#define TAIL_CALL(Name, read_arguments, pass_arguments)    \
  at_##Name : {                                            \
    if (poll.load(std::memory_order_relaxed)) [[unlikely]] \
      goto polled_call;                                    \
    const Instruction* entry = pc->target;                 \
    Frame* callee = f;                                     \
    read_arguments;                                        \
    if (f->capacity < entry[-1].d) [[unlikely]] {          \
      callee = replace_frame(*worker, f, entry[-1].d);     \
      if (callee == nullptr) goto out_of_frames;           \
    }                                                      \
    pass_arguments;                                        \
    f = callee;                                            \
    pc = entry;                                            \
    GO;                                                    \
  }
#define READ(i, slot) \
  const uint64_t argument##i = f->slots[slot].bits + static_cast<uint64_t>(int64_t{pc->plus[i]})
#define WRITE(i) callee->slots[i].bits = argument##i
  TAIL_CALL(TailCall1, READ(0, pc->a), WRITE(0))
  TAIL_CALL(TailCall2, READ(0, pc->a); READ(1, pc->b()), WRITE(0); WRITE(1))
  TAIL_CALL(TailCall3, READ(0, pc->a); READ(1, pc->b()); READ(2, pc->c()), WRITE(0); WRITE(1); WRITE(2))
  TAIL_CALL(TailCall4, READ(0, pc->a); READ(1, pc->b()); READ(2, pc->c());
            const Slot last = f->slots[static_cast<uint16_t>(pc->plus[3])], WRITE(0); WRITE(1); WRITE(2);
            callee->slots[3] = last)
  TAIL_CALL(TailCall2Const, READ(0, pc->a); READ(1, pc->b()), WRITE(0); WRITE(1); PASS_CONSTANT)
  TAIL_CALL(TailCall3Const, READ(0, pc->a); READ(1, pc->b()); READ(2, pc->c()), WRITE(0); WRITE(1); WRITE(2);
            PASS_CONSTANT)
#undef READ
#undef WRITE
#undef TAIL_CALL
at_TailCallN : {
  if (poll.load(std::memory_order_relaxed)) [[unlikely]]
    goto polled_call;
  worker->frame = f;
  f = start_call(*worker, f, pc);
  if (f == nullptr) goto out_of_frames_of_tail_call;
  pc = worker->pc;
  GO;
}

#define RETURN(result)                     \
  do {                                     \
    const Slot value = result;             \
    const Instruction* resume = f->resume; \
    f = f->parent;                         \
    f->slots[resume[-1].d] = value;        \
    pc = resume;                           \
    GO;                                    \
  } while (false)
at_Return1:
  RETURN(f->slots[pc->a]);
at_ReturnConst:
  RETURN(pc->constant);
at_ReturnSum:
  RETURN(make_slot(Add{}(Add{}(f->slots[pc->a].i64, f->slots[pc->b()].i64), pc->constant.i64)));
at_ReturnN : {
  const Instruction* resume = f->resume;
  Slot* results = &f->parent->slots[resume[-1].d];
  for (const uint16_t slot : pc->returns->slots) *results++ = f->slots[slot];
  f = f->parent;
  pc = resume;
  GO;
}
#define HIATON_CODE(Name, F, In, Out)                                                      \
  at_Return##Name##_SlotSlot                                                               \
      : RETURN(make_slot<Out>(F{}(get<In>(f->slots[pc->a]), get<In>(f->slots[pc->b()])))); \
  at_Return##Name##_SlotConst : RETURN(make_slot<Out>(F{}(get<In>(f->slots[pc->a]), get<In>(pc->constant))));
  HIATON_RETURNED_KERNELS(HIATON_CODE)
#undef HIATON_CODE
#define RETURN_IF(label, condition, result) \
  label : {                                 \
    if (!(condition)) NEXT;                 \
    RETURN(result);                         \
  }
#define HOLDS(F, In, right) F{}(get<In>(f->slots[pc->a]), get<In>(right))
#define HIATON_CODE(Name, F, In, Out)                                                          \
  RETURN_IF(at_If##Name##_SlotSlot_Const, HOLDS(F, In, f->slots[pc->d]), pc->other)            \
  RETURN_IF(at_If##Name##_SlotSlot_Slot, HOLDS(F, In, f->slots[pc->d]), f->slots[pc->c()])     \
  RETURN_IF(at_If##Name##_SlotConst_Const, HOLDS(F, In, pc->constant), pc->other)              \
  RETURN_IF(at_If##Name##_SlotConst_Slot, HOLDS(F, In, pc->constant), f->slots[pc->c()])       \
  RETURN_IF(at_IfNot##Name##_SlotSlot_Const, !HOLDS(F, In, f->slots[pc->d]), pc->other)        \
  RETURN_IF(at_IfNot##Name##_SlotSlot_Slot, !HOLDS(F, In, f->slots[pc->d]), f->slots[pc->c()]) \
  RETURN_IF(at_IfNot##Name##_SlotConst_Const, !HOLDS(F, In, pc->constant), pc->other)          \
  RETURN_IF(at_IfNot##Name##_SlotConst_Slot, !HOLDS(F, In, pc->constant), f->slots[pc->c()])
  HIATON_RETURN_PREDICATES(HIATON_CODE)
#undef HIATON_CODE
#undef HOLDS
#undef RETURN_IF

  // --- Calls that may be stolen ---

  // The code of a group is Fork, then for each call a Next (but for the first) and the call, then Join. The
  // slot join_slot is 0 as long as nothing was stolen; a thief puts a JoinRecord there, which says which
  // calls are left to this worker. A loop's window, whose iterations may end early, has ForkSome and
  // NextOfSome.
at_Fork : {
  if (worker->forks_weigh >= worker->fork_room && !worker->find_fork_room()) {
    pc += pc->jump;
    GO;
  }
  f->slots[pc->group->join_slot].bits = 0;
  const auto count = static_cast<uint32_t>(pc->group->calls.size());
  worker->push_fork({f, pc->group, 1, count, fork_weight(count)});
  NEXT;
}
at_ForkRoom:
  pc += worker->forks_weigh >= worker->fork_room && !worker->find_fork_room() ? pc->jump : 1;
  GO;
at_ForkSome : {
  const auto count = static_cast<uint32_t>(f->slots[pc->a].bits);
  f->slots[pc->group->join_slot].bits = 0;
  if (count > 1) worker->push_fork({f, pc->group, 1, count, fork_weight(count)});
  NEXT;
}
at_NextOfSome:
  if (f->slots[pc->d].bits == pc->a) {
    if (f->slots[pc->group->join_slot].bits != 0) goto wait_for_stolen;
    pc = pc->group->joined;
    GO;
  }
  // falls through: there is another call
at_Next : {
  // Where nothing was stolen the group is the last in the fork list; otherwise its record knows how far to
  // go.
  const uint64_t record = f->slots[pc->group->join_slot].bits;
  const uint32_t end = record == 0 ? worker->forks[worker->fork_end - 1].end
                                   : reinterpret_cast<const JoinRecord*>(record)->end;
  const uint32_t started = pc->a;
  if (started == end) goto wait_for_stolen;
  if (started + 1 == end) {
    worker->pop_fork();
  } else {
    worker->forks[worker->fork_end - 1].started = started + 1;
  }
  NEXT;
}
at_Join:
  if (f->slots[pc->group->join_slot].bits != 0) goto wait_for_stolen;
  NEXT;
at_StolenReturn:
  worker->leave_chain();
wait_for_stolen : {
  const Group& group = *pc->group;
  worker->forget_forks();
  if (!worker->arrive(f, group)) return Outcome::Parked;
  if (worker->state.stopping.load()) [[unlikely]]
    return worker->stop_at(f, group);
  if (worker->calls.is_on()) worker->calls.go_on(group);
  pc = group.joined;
  GO;
}

  // --- Values and jumps ---

at_Const:
  f->slots[pc->d] = pc->constant;
  NEXT;
at_Move:
  f->slots[pc->d] = f->slots[pc->a];
  NEXT;
at_Apply1 : {
  const Slot operand = f->slots[pc->a];
  fault = pc->kernel(&operand, &f->slots[pc->d]);
  if (fault != Fault::None) [[unlikely]]
    goto failed;
  NEXT;
}
at_Apply2 : {
  const Slot operands[] = {f->slots[pc->a], f->slots[pc->b()]};
  fault = pc->kernel(operands, &f->slots[pc->d]);
  if (fault != Fault::None) [[unlikely]]
    goto failed;
  NEXT;
}
at_Apply3 : {
  const Slot operands[] = {f->slots[pc->a], f->slots[pc->b()], f->slots[pc->c()]};
  fault = pc->kernel(operands, &f->slots[pc->d]);
  if (fault != Fault::None) [[unlikely]]
    goto failed;
  NEXT;
}
at_Jump:
  pc += pc->jump;
  GO;
at_JumpBack:
  pc += pc->jump;
  if (poll.load(std::memory_order_relaxed)) [[unlikely]]
    goto polled_loop;
  GO;
at_BranchFalse:
  pc += f->slots[pc->a].boolean ? 1 : pc->jump;
  GO;
at_NumberJump:
  pc += pc->jumps[std::clamp(f->slots[pc->a].i64, pc->least, pc->least + (pc->count - 1)) - pc->least];
  GO;
at_IntervalJump:
  pc += pc->jumps[std::upper_bound(pc->begins + 1, pc->begins + pc->count, f->slots[pc->a].i64) - pc->begins -
                  1];
  GO;
at_LoopTrue:
  if (!f->slots[pc->a].boolean) NEXT;
  pc += pc->jump;
  if (poll.load(std::memory_order_relaxed)) [[unlikely]]
    goto polled_loop;
  GO;
at_Count:
  ++worker->region_firings[pc->number];
  NEXT;
at_BeginCall:
  worker->calls.begin_call(f, pc + 1);
  NEXT;
at_EndCall:
  worker->calls.end_call();
  NEXT;

#include "exec/direct/run/interpret_data.inc"
#include "exec/direct/run/interpret_tensors.inc"

  // --- Kernels with instructions of their own ---

#define COMPUTE(label, F, In, Out, left, right)                \
  label : {                                                    \
    fault = compute<F, In, Out>(left, right, f->slots[pc->d]); \
    if (fault != Fault::None) [[unlikely]]                     \
      goto failed;                                             \
    NEXT;                                                      \
  }
#define COMPUTE_INTEGER(label, F, In, Out, ...)       \
  label : {                                           \
    fault = compute<F, In, Out>(__VA_ARGS__, result); \
    if (fault != Fault::None) [[unlikely]]            \
      goto failed;                                    \
    f->slots[pc->d] = result;                         \
    NEXT;                                             \
  }
#define HIATON_BINARY(What, Name, F, In, Out)                                \
  What(at_##Name##_SlotSlot, F, In, Out, f->slots[pc->a], f->slots[pc->b()]) \
      What(at_##Name##_SlotConst, F, In, Out, f->slots[pc->a], pc->constant) \
          What(at_##Name##_ConstSlot, F, In, Out, pc->constant, f->slots[pc->b()])
#define HIATON_CODE(Name, F, In, Out) HIATON_BINARY(COMPUTE, Name, F, In, Out)
  HIATON_FAST_PREDICATES(HIATON_CODE)
  HIATON_OTHER_ARITHMETIC(HIATON_CODE)
#undef HIATON_CODE
#define HIATON_CODE(Name, F, In, Out)                                            \
  HIATON_BINARY(COMPUTE_INTEGER, Name, F, In, Out)                               \
  COMPUTE_INTEGER(at_##Name##_ResultSlot, F, In, Out, result, f->slots[pc->b()]) \
  COMPUTE_INTEGER(at_##Name##_ResultConst, F, In, Out, result, pc->constant)
  HIATON_INTEGER_ARITHMETIC(HIATON_CODE)
#undef HIATON_CODE
#define HIATON_CODE(Name, F, In, Out)                            \
  COMPUTE_INTEGER(at_##Name##_Slot, F, In, Out, f->slots[pc->a]) \
  COMPUTE_INTEGER(at_##Name##_Result, F, In, Out, result)
  HIATON_INTEGER_UNARY(HIATON_CODE)
#undef HIATON_CODE
#undef HIATON_BINARY
#undef COMPUTE_INTEGER
#undef COMPUTE

#define HIATON_CODE(Name, F, In, Out)                                                 \
  at_##Name##_Slot : f->slots[pc->d] = make_slot<Out>(F{}(get<In>(f->slots[pc->a]))); \
  NEXT;
  HIATON_OTHER_UNARY(HIATON_CODE)
#undef HIATON_CODE

#include "exec/direct/run/interpret_pairs.inc"

  // Both ways of a branch have their own jump, so that each is predicted by itself.
#define UNLESS(label, F, In, left, right)         \
  label : {                                       \
    if (F{}(get<In>(left), get<In>(right))) NEXT; \
    pc += pc->jump;                               \
    GO;                                           \
  }
#define WHILE(label, F, In, left, right)                   \
  label : {                                                \
    if (!F{}(get<In>(left), get<In>(right))) NEXT;         \
    pc += pc->jump;                                        \
    if (poll.load(std::memory_order_relaxed)) [[unlikely]] \
      goto polled_loop;                                    \
    GO;                                                    \
  }
#define HIATON_BRANCHES(Name, form, F, In, left)                       \
  UNLESS(at_Unless##Name##_##form##Slot, F, In, left, f->slots[pc->d]) \
  UNLESS(at_Unless##Name##_##form##Const, F, In, left, pc->constant)   \
  WHILE(at_While##Name##_##form##Slot, F, In, left, f->slots[pc->d])   \
  WHILE(at_While##Name##_##form##Const, F, In, left, pc->constant)
#define HIATON_CODE(Name, F, In, Out) HIATON_BRANCHES(Name, Slot, F, In, f->slots[pc->a])
  HIATON_FAST_PREDICATES(HIATON_CODE)
#undef HIATON_CODE
#define HIATON_CODE(Name, F, In, Out) HIATON_BRANCHES(Name, Result, F, In, result)
  HIATON_INTEGER_PREDICATES(HIATON_CODE)
#undef HIATON_CODE
#undef HIATON_BRANCHES
#undef UNLESS
#undef WHILE

  // --- The rare ways on and out ---

polled_call : {
  worker->frame = f;
  worker->pc = pc;
  if (!worker->answer_poll()) return Outcome::Stopped;
  Frame* callee = start_call(*worker, f, pc);
  if (callee == nullptr) goto out_of_frames;
  f = callee;
  pc = worker->pc;
  GO;
}
polled_loop:
  worker->frame = f;
  worker->pc = pc;
  if (!worker->answer_poll()) return Outcome::Stopped;
  GO;
failed_on_tensors:
  if (fault != Fault::OutOfMemory) goto failed;
out_of_cells:
  fault = worker->pool.memory_fault();
  goto failed;
out_of_frames_of_tail_call:
  f = worker->frame;
out_of_frames:
  fault = worker->pool.failure();
failed:
  worker->frame = f;
  worker->pc = pc;
  worker->fault = fault;
  return Outcome::Failed;
at_SendCall:
  if (const Instruction* entry = worker->state.sent->entry_here(static_cast<std::size_t>(pc->number))) {
    pc = entry;
    GO;
  }
  worker->frame = f;
  worker->pc = pc;
  return Outcome::Sends;
at_Halt:
  worker->frame = f;
  return Outcome::Halted;
at_Header:
  __builtin_unreachable();

#undef RETURN
#undef JUMP
#undef RETURN_NUMBER
#undef PASS_CONSTANT
#undef PASS_LAST
#undef PASS
#undef NEXT
#undef GO
}

}  // namespace

Outcome interpret(Worker& worker, Frame* frame, const Instruction* pc) {
  return execute(&worker, frame, pc, nullptr);
}

void set_handlers(Plan& plan) {
  Labels labels{};
  execute(nullptr, nullptr, nullptr, &labels);
  static const std::map<std::pair<Opcode, Opcode>, const void*> pairs = [&] {
    std::map<std::pair<Opcode, Opcode>, const void*> by_opcodes;
    for (const PairLabel& pair : labels.of_pairs) by_opcodes.emplace(pair.opcodes, pair.label);
    return by_opcodes;
  }();
  for (std::size_t i = 0; i < plan.code.size(); ++i) {
    plan.code[i].handler = labels.handlers[static_cast<std::size_t>(plan.opcodes[i])];
    if (i + 1 == plan.code.size()) continue;
    const auto pair = pairs.find({plan.opcodes[i], plan.opcodes[i + 1]});
    if (pair != pairs.end()) plan.code[i].handler = pair->second;
  }
}

}  // namespace hiaton::exec::direct
