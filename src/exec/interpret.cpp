#include "exec/interpret.h"

#include "kernels/scalar.h"

// Addresses of labels are an extension that gcc and clang share.
#pragma GCC diagnostic ignored "-Wpedantic"

namespace hiaton::exec {

using namespace kernels;

namespace {

/// A call after a poll was answered: rare, so one general form for all call instructions. A worker that
/// somebody waits for goes on in the forking form. Gives null where no frame can be had.
Frame* start_call(Worker& worker, Frame* caller, const Instruction* call) {
  const Opcode opcode = worker.plan.opcode(call);
  const bool is_tail = opcode >= Opcode::TailCall1;
  const auto form = static_cast<std::size_t>(opcode) -
                    static_cast<std::size_t>(is_tail ? Opcode::TailCall1 : Opcode::Call1);
  const bool has_list = form == 3;
  const uint16_t in_instruction[] = {call->a, call->b(), call->c()};
  const uint16_t* arguments = has_list ? call->calls->arguments.data() : in_instruction;
  const std::size_t count = has_list ? call->calls->arguments.size() : form + 1;
  const Instruction* entry = has_list ? call->calls->target : call->target;
  if (worker.hungry) entry = entry[-1].target;
  worker.hungry = false;
  Frame* callee = worker.pool.take(entry[-1].d);
  if (callee == nullptr) return nullptr;
  callee->parent = is_tail ? caller->parent : caller;
  callee->resume = is_tail ? caller->resume : call + 1;
  for (std::size_t i = 0; i < count; ++i) callee->slots[i] = caller->slots[arguments[i]];
  if (is_tail) worker.pool.give(caller, call->d);
  worker.pc = entry;
  return callee;
}

/// The interpreter proper. With `labels`, only tells where the code of each opcode stands.
///
/// What it keeps in registers: the frame `f`, the next instruction `pc`, the worker's free lists. In the
/// common case no instruction touches memory that another worker writes, but for the relaxed load of `poll`.
Outcome execute(Worker* worker, Frame* f, const Instruction* pc, const void* const** labels) {
  static const void* const handlers[] = {
#define HIATON_LABEL(Name) &&at_##Name,
      HIATON_CONTROL_INSTRUCTIONS(HIATON_LABEL)
#undef HIATON_LABEL
#define HIATON_LABEL(Name, F, In, Out) \
  &&at_##Name##_SlotSlot, &&at_##Name##_SlotConst, &&at_##Name##_ConstSlot,
          HIATON_FAST_BINARY(HIATON_LABEL)
#undef HIATON_LABEL
#define HIATON_LABEL(Name, F, In, Out) &&at_##Name##_Slot,
              HIATON_FAST_UNARY(HIATON_LABEL)
#undef HIATON_LABEL
#define HIATON_LABEL(Name, F, In, Out)                                                      \
  &&at_Unless##Name##_SlotSlot, &&at_Unless##Name##_SlotConst, &&at_While##Name##_SlotSlot, \
      &&at_While##Name##_SlotConst,
                  HIATON_FAST_PREDICATES(HIATON_LABEL)
#undef HIATON_LABEL
  };
  if (labels != nullptr) {
    *labels = handlers;
    return Outcome::Halted;
  }

  FramePool& pool = worker->pool;
  Frame** const free = pool.free_lists();
  const std::atomic<bool>& poll = worker->poll;
  Fault fault = Fault::None;

#define GO goto * pc->handler
#define NEXT \
  do {       \
    ++pc;    \
    GO;      \
  } while (false)
#define TAKE_FRAME(frame, size_class)         \
  Frame* frame = free[size_class];            \
  if (frame == nullptr) [[unlikely]] {        \
    frame = pool.take(size_class);            \
    if (frame == nullptr) goto out_of_frames; \
  } else {                                    \
    free[size_class] = frame->parent;         \
  }
#define GIVE_FRAME(frame, size_class)   \
  do {                                  \
    (frame)->parent = free[size_class]; \
    free[size_class] = (frame);         \
  } while (false)

  GO;

  // --- Calls and returns ---

#define CALL(Name, target_entry, copy_arguments)           \
  at_##Name : {                                            \
    if (poll.load(std::memory_order_relaxed)) [[unlikely]] \
      goto polled_call;                                    \
    const Instruction* entry = target_entry;               \
    TAKE_FRAME(callee, entry[-1].d)                        \
    callee->parent = f;                                    \
    callee->resume = pc + 1;                               \
    copy_arguments;                                        \
    f = callee;                                            \
    pc = entry;                                            \
    GO;                                                    \
  }
  CALL(Call1, pc->target, callee->slots[0] = f->slots[pc->a])
  CALL(Call2, pc->target, (callee->slots[0] = f->slots[pc->a], callee->slots[1] = f->slots[pc->b()]))
  CALL(Call3, pc->target,
       (callee->slots[0] = f->slots[pc->a], callee->slots[1] = f->slots[pc->b()],
        callee->slots[2] = f->slots[pc->c()]))
  CALL(CallN, pc->calls->target, {
    std::size_t i = 0;
    for (const uint16_t slot : pc->calls->arguments) callee->slots[i++] = f->slots[slot];
  })
#undef CALL

  // The callee's frame replaces the caller's: it returns where the caller would have.
#define TAIL_CALL(Name, target_entry, copy_arguments)      \
  at_##Name : {                                            \
    if (poll.load(std::memory_order_relaxed)) [[unlikely]] \
      goto polled_call;                                    \
    const Instruction* entry = target_entry;               \
    TAKE_FRAME(callee, entry[-1].d)                        \
    callee->parent = f->parent;                            \
    callee->resume = f->resume;                            \
    copy_arguments;                                        \
    GIVE_FRAME(f, pc->d);                                  \
    f = callee;                                            \
    pc = entry;                                            \
    GO;                                                    \
  }
  TAIL_CALL(TailCall1, pc->target, callee->slots[0] = f->slots[pc->a])
  TAIL_CALL(TailCall2, pc->target, (callee->slots[0] = f->slots[pc->a], callee->slots[1] = f->slots[pc->b()]))
  TAIL_CALL(TailCall3, pc->target,
            (callee->slots[0] = f->slots[pc->a], callee->slots[1] = f->slots[pc->b()],
             callee->slots[2] = f->slots[pc->c()]))
  TAIL_CALL(TailCallN, pc->calls->target, {
    std::size_t i = 0;
    for (const uint16_t slot : pc->calls->arguments) callee->slots[i++] = f->slots[slot];
  })
#undef TAIL_CALL

at_Return1 : {
  Frame* parent = f->parent;
  const Instruction* resume = f->resume;
  const Slot result = f->slots[pc->a];
  GIVE_FRAME(f, pc->d);
  parent->slots[resume[-1].d] = result;
  f = parent;
  pc = resume;
  GO;
}
at_ReturnConst : {
  Frame* parent = f->parent;
  const Instruction* resume = f->resume;
  GIVE_FRAME(f, pc->d);
  parent->slots[resume[-1].d] = pc->constant;
  f = parent;
  pc = resume;
  GO;
}
at_ReturnN : {
  Frame* parent = f->parent;
  const Instruction* resume = f->resume;
  Slot* results = &parent->slots[resume[-1].d];
  for (const uint16_t slot : pc->returns->slots) *results++ = f->slots[slot];
  GIVE_FRAME(f, pc->d);
  f = parent;
  pc = resume;
  GO;
}

  // --- Calls that may be stolen ---

at_Fork : {
  if (worker->fork_end == Worker::kMostForks) {
    pc += pc->jump;
    GO;
  }
  f->slots[pc->group->join_slot].bits = 0;
  worker->forks[worker->fork_end++] = {f, pc->group, 1, static_cast<uint32_t>(pc->group->calls.size())};
  NEXT;
}
at_Next : {
  const uint64_t record = f->slots[pc->group->join_slot].bits;
  const uint32_t end = record == 0 ? static_cast<uint32_t>(pc->group->calls.size())
                                   : reinterpret_cast<const JoinRecord*>(record)->end;
  const uint32_t started = pc->a;
  if (started == end) goto wait_for_stolen;
  if (started + 1 == end) {
    --worker->fork_end;
  } else {
    worker->forks[worker->fork_end - 1].started = started + 1;
  }
  NEXT;
}
at_Join:
  if (f->slots[pc->group->join_slot].bits != 0) goto wait_for_stolen;
  NEXT;
at_StolenReturn:
wait_for_stolen : {
  const Group& group = *pc->group;
  worker->fork_begin = worker->fork_end = 0;
  if (!worker->arrive(f, group)) return Outcome::Parked;
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
at_LoopTrue:
  if (!f->slots[pc->a].boolean) NEXT;
  pc += pc->jump;
  if (poll.load(std::memory_order_relaxed)) [[unlikely]]
    goto polled_loop;
  GO;
at_Count:
  ++worker->region_firings[pc->number];
  NEXT;

  // --- Kernels with instructions of their own ---

#define COMPUTE(label, F, In, Out, left, right)                        \
  label : {                                                            \
    fault = compute<F, In, Out>(left, right, f->slots[pc->d]);         \
    if (fault != Fault::None) [[unlikely]] goto failed;                \
    NEXT;                                                              \
  }
#define HIATON_CODE(Name, F, In, Out)                                         \
  COMPUTE(at_##Name##_SlotSlot, F, In, Out, f->slots[pc->a], f->slots[pc->b()]) \
  COMPUTE(at_##Name##_SlotConst, F, In, Out, f->slots[pc->a], pc->constant)   \
  COMPUTE(at_##Name##_ConstSlot, F, In, Out, pc->constant, f->slots[pc->b()])
  HIATON_FAST_BINARY(HIATON_CODE)
#undef HIATON_CODE
#undef COMPUTE

#define HIATON_CODE(Name, F, In, Out)                                                 \
  at_##Name##_Slot : f->slots[pc->d] = make_slot<Out>(F{}(get<In>(f->slots[pc->a]))); \
  NEXT;
  HIATON_FAST_UNARY(HIATON_CODE)
#undef HIATON_CODE

  // Both ways of a branch have their own jump, so that each is predicted by itself.
#define UNLESS(label, F, In, right)                          \
  label : {                                                  \
    if (F{}(get<In>(f->slots[pc->a]), get<In>(right))) NEXT; \
    pc += pc->jump;                                          \
    GO;                                                      \
  }
#define WHILE(label, F, In, right)                            \
  label : {                                                   \
    if (!F{}(get<In>(f->slots[pc->a]), get<In>(right))) NEXT; \
    pc += pc->jump;                                           \
    if (poll.load(std::memory_order_relaxed)) [[unlikely]]    \
      goto polled_loop;                                       \
    GO;                                                       \
  }
#define HIATON_CODE(Name, F, In, Out)                        \
  UNLESS(at_Unless##Name##_SlotSlot, F, In, f->slots[pc->d]) \
  UNLESS(at_Unless##Name##_SlotConst, F, In, pc->constant)   \
  WHILE(at_While##Name##_SlotSlot, F, In, f->slots[pc->d])   \
  WHILE(at_While##Name##_SlotConst, F, In, pc->constant)
  HIATON_FAST_PREDICATES(HIATON_CODE)
#undef HIATON_CODE
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
out_of_frames:
  fault = pool.failure();
failed:
  worker->frame = f;
  worker->pc = pc;
  worker->fault = fault;
  return Outcome::Failed;
at_Halt:
  return Outcome::Halted;
at_Header:
  __builtin_unreachable();

#undef GO
#undef NEXT
#undef TAKE_FRAME
#undef GIVE_FRAME
}

}  // namespace

Outcome interpret(Worker& worker, Frame* frame, const Instruction* pc) {
  return execute(&worker, frame, pc, nullptr);
}

void set_handlers(Plan& plan) {
  const void* const* handlers = nullptr;
  execute(nullptr, nullptr, nullptr, &handlers);
  for (std::size_t i = 0; i < plan.code.size(); ++i) {
    plan.code[i].handler = handlers[static_cast<std::size_t>(plan.opcodes[i])];
  }
}

}  // namespace hiaton::exec
