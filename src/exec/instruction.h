// The instructions that function bodies are compiled to.
#pragma once

#include <cstdint>

#include "exec/fast_kernels.h"
#include "hiaton/op.h"
#include "hiaton/value.h"

namespace hiaton::exec {

struct Instruction;
struct Group;
struct CallList;
struct ReturnList;

// Slots are numbered from 0 within a frame. d: destination slot; a, b, c: operand slots.
#define HIATON_CONTROL_INSTRUCTIONS(X)                                                                      \
  X(Header)      /* stands before a body, never runs; d: size class; target: the forking form's entry */    \
  X(Const)       /* d = constant */                                                                         \
  X(Move)        /* d = a */                                                                                \
  X(Apply1)      /* d = kernel(a) */                                                                        \
  X(Apply2)      /* d = kernel(a, b) */                                                                     \
  X(Jump)        /* pc += jump */                                                                           \
  X(JumpBack)    /* the same, and answers polls */                                                          \
  X(BranchFalse) /* if not a: pc += jump */                                                                 \
  X(LoopTrue)    /* if a: pc += jump, and answers polls */                                                  \
  X(Call1)       /* d... = target(a) */                                                                     \
  X(Call2)       /* d... = target(a, b) */                                                                  \
  X(Call3)       /* d... = target(a, b, c) */                                                               \
  X(CallN)       /* d... = calls->target(calls->arguments) */                                               \
  X(TailCall1)   /* the same, forwarding the caller's return site; d: size class of the caller */           \
  X(TailCall2)                                                                                              \
  X(TailCall3)                                                                                              \
  X(TailCallN)                                                                                              \
  X(Return1)      /* returns a; d: size class */                                                            \
  X(ReturnConst)  /* returns constant; d: size class */                                                     \
  X(ReturnN)      /* returns returns->slots; d: size class */                                               \
  X(Fork)         /* makes the calls of group but the first free to be stolen; jump: the sequential form */ \
  X(Next)         /* a calls of group have been run here: go on with the next, or wait for the stolen */    \
  X(Join)         /* all calls of group were started: wait for the stolen */                                \
  X(StolenReturn) /* a stolen call of group has returned */                                                 \
  X(Halt)         /* the program has returned */                                                            \
  X(Count)        /* one more firing of region number */

enum class Opcode : uint16_t {
#define HIATON_ENUMERATE(Name) Name,
  HIATON_CONTROL_INSTRUCTIONS(HIATON_ENUMERATE)
#undef HIATON_ENUMERATE
#define HIATON_ENUMERATE(Name, F, In, Out) Name##_SlotSlot, Name##_SlotConst, Name##_ConstSlot,
      HIATON_FAST_BINARY(HIATON_ENUMERATE)
#undef HIATON_ENUMERATE
#define HIATON_ENUMERATE(Name, F, In, Out) Name##_Slot,
          HIATON_FAST_UNARY(HIATON_ENUMERATE)
#undef HIATON_ENUMERATE
// Unless(P): if not P(a, b): pc += jump. While(P): if P(a, b): pc += jump, and answers polls. b is the slot
// in d for SlotSlot, the constant for SlotConst.
#define HIATON_ENUMERATE(Name, F, In, Out) \
  Unless##Name##_SlotSlot, Unless##Name##_SlotConst, While##Name##_SlotSlot, While##Name##_SlotConst,
              HIATON_FAST_PREDICATES(HIATON_ENUMERATE)
#undef HIATON_ENUMERATE
                  OpcodeCount
};

struct Instruction {
  const void* handler = nullptr;  ///< where the interpreter goes on for this opcode
  uint16_t d = 0;
  uint16_t a = 0;
  union {
    uint16_t bc[2];    ///< see b() and c()
    int32_t jump = 0;  ///< in instructions, relative to this one
  };
  union {
    Slot constant;
    const Instruction* target;
    const CallList* calls;
    const ReturnList* returns;
    const Group* group;
    Kernel kernel;
    uint64_t number;
  };

  Instruction() : constant() {}
  uint16_t& b() { return bc[0]; }
  uint16_t b() const { return bc[0]; }
  uint16_t& c() { return bc[1]; }
  uint16_t c() const { return bc[1]; }
};
static_assert(sizeof(Instruction) == 24);

}  // namespace hiaton::exec
