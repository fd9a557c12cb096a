// The instructions that function bodies are compiled to.
#pragma once

#include <cstdint>

#include "exec/direct/fast_kernels.h"
#include "hiaton/op.h"
#include "hiaton/value.h"

namespace hiaton::exec::direct {

struct Instruction;
struct Group;
struct CallList;
struct ReturnList;
struct TakeList;
struct MakeList;
struct TensorOperation;

/// The slot of a field that is not needed.
inline constexpr uint16_t kNoSlot = UINT16_MAX;

// Slots are numbered from 0 within a frame. d: destination slot; a, b, c: operand slots.
#define HIATON_CONTROL_INSTRUCTIONS(X)                                                                       \
  X(Header)   /* stands before a body, never runs; d: how many slots a frame needs; a: not 0 if there may be \
                 forks in it or below; target: the forking form's entry */                                   \
  X(Const)    /* d = constant */                                                                             \
  X(Move)     /* d = a */                                                                                    \
  X(Apply1)   /* d = kernel(a) */                                                                            \
  X(Apply2)   /* d = kernel(a, b) */                                                                         \
  X(Apply3)   /* d = kernel(a, b, c) */                                                                      \
  X(Jump)     /* pc += jump */                                                                               \
  X(JumpBack) /* the same, and answers polls */                                                              \
  X(BranchFalse) /* if not a: pc += jump */                                                                  \
  X(LoopTrue)    /* if a: pc += jump, and answers polls */                                                   \
  X(NumberJump)  /* pc += jumps[a - least], for an a between least and least + count - 1, else the nearer */ \
  X(IntervalJump) /* pc += jumps[i], for the last i of count of which begins[i] <= a */                      \
  X(Call1)        /* d... = target(a + plus[0]) */                                                           \
  X(Call2)        /* d... = target(a, b) */                                                                  \
  X(Call3)        /* d... = target(a, b, c) */                                                               \
  X(Call4)        /* d... = target(a, b, c, plus[3]), nothing being added to the last */                     \
  X(CallN)        /* d... = calls->target(calls->arguments) */                                               \
  X(Call2Const)   /* Call2 whose argument number plus[3] is what would be added to it */                     \
  X(Call3Const)                                                                                              \
  X(TailCall1) /* the same, returning where the caller would */                                              \
  X(TailCall2)                                                                                               \
  X(TailCall3)                                                                                               \
  X(TailCall4)                                                                                               \
  X(TailCallN)                                                                                               \
  X(TailCall2Const)                                                                                          \
  X(TailCall3Const)                                                                                          \
  X(NextField) /* d = field number of the data value in a; plus[0] += plus[1]; pc += jump; answers polls */  \
  X(NextPeekObject1) /* a NextField and the Peek of d that it goes to */                                     \
  X(NextPeekObject2)                                                                                         \
  X(NextPeekObject3)                                                                                         \
  X(NextPeekOrReturn1)                                                                                       \
  X(NextPeekOrReturn2)                                                                                       \
  X(NextPeekOrReturn3)                                                                                       \
  X(Return1)      /* returns a */                                                                            \
  X(ReturnConst)  /* returns constant */                                                                     \
  X(ReturnN)      /* returns returns->slots */                                                               \
  X(ReturnSum)    /* returns a + b + constant, of type i64 */                                                \
  X(Fork)         /* makes the calls of group but the first free to be stolen; jump: the sequential form */  \
  X(ForkRoom)     /* if no group can be forked here: pc += jump */                                           \
  X(ForkSome)     /* Fork for as many calls of group as the slot in a says */                                \
  X(NextOfSome)   /* Next where the slot in d says how many calls there are */                               \
  X(Next)         /* a calls of group have been run here: go on with the next, or wait for the stolen */     \
  X(Join)         /* all calls of group were started: wait for the stolen */                                 \
  X(StolenReturn) /* a stolen call of group has returned */                                                  \
  X(SendCall)     /* calls function number on its process: the frame waits for the results */                \
  X(Halt)         /* the program has returned */                                                             \
  X(Count)        /* one more firing of region number */                                                     \
  X(Retain)       /* one more reference to the data value in a */                                            \
  X(Release)      /* one less */                                                                             \
  X(Field)        /* d = field number of the data value in a, without a reference of its own */              \
  X(Field2)       /* the same for several fields; see PeekedField */                                         \
  X(Field3)                                                                                                  \
  X(VariantOf)       /* d = variant of the data value in a */                                                \
  X(RequireVariant)  /* fails unless the data value in a is of variant number */                             \
  X(MatchJump)       /* pc += jumps[the variant of the data value in a] */                                   \
  X(UnlessVariant)   /* if the data value in a is not of variant number: pc += jump */                       \
  X(UnlessImmediate) /* if a is not the variant without fields whose bits are number: pc += jump */          \
  X(UnlessObject)    /* if the variant in a has no fields: pc += jump */                                     \
  X(PeekObject1)     /* UnlessObject, and fields of the same value to slots; see PeekedField */              \
  X(PeekObject2)                                                                                             \
  X(PeekObject3)                                                                                             \
  X(PeekVariant1) /* the same with UnlessVariant of variant number >> 16 */                                  \
  X(PeekVariant2)                                                                                            \
  X(PeekVariant3)                                                                                            \
  X(PeekOrReturn1) /* PeekObject1 that returns the number in jump instead of jumping */                      \
  X(PeekOrReturn2)                                                                                           \
  X(PeekOrReturn3)                                                                                           \
  X(PeekTest1) /* PeekObject1 and the UnlessImmediate of the first field behind it, which stays there */     \
  X(PeekTest2)                                                                                               \
  X(PeekTest3)                                                                                               \
  X(FieldPeekTest)          /* a Field and the PeekTest1 behind it */                                        \
  X(FieldUnlessLt)          /* a Field and the UnlessLtI64_SlotSlot behind it */                             \
  X(UnlessLtGtI64_SlotSlot) /* UnlessLtI64_SlotSlot, and the UnlessGtI64_SlotSlot that it jumps to */        \
  X(Take1)                  /* takes the data value in a apart: field i to slot takes[i] */                  \
  X(Take2)                                                                                                   \
  X(Take3)                                                                                                   \
  X(Take4)                                                                                                   \
  X(TakeN)        /* the same by the list taken */                                                           \
  X(MatchObject1) /* UnlessObject, and Take1 of the same value */                                            \
  X(MatchObject2)                                                                                            \
  X(MatchObject3)                                                                                            \
  X(MatchObject4)                                                                                            \
  X(MatchOrReturn1) /* MatchObject1 that returns the number in jump instead of jumping */                    \
  X(MatchOrReturn2)                                                                                          \
  X(MatchOrReturn3)                                                                                          \
  X(MatchOrReturn4)                                                                                          \
  X(MatchVariant1) /* UnlessVariant of variant d, and Take1 of the same value */                             \
  X(MatchVariant2)                                                                                           \
  X(MatchVariant3)                                                                                           \
  X(MatchVariant4)                                                                                           \
  X(Take1Call1) /* a Take and the call behind it */                                                          \
  X(Take1Call2)                                                                                              \
  X(Take1Call3)                                                                                              \
  X(Take2Call1)                                                                                              \
  X(Take2Call2)                                                                                              \
  X(Take2Call3)                                                                                              \
  X(Take3Call1)                                                                                              \
  X(Take3Call2)                                                                                              \
  X(Take3Call3)                                                                                              \
  X(Take4Call1)                                                                                              \
  X(Take4Call2)                                                                                              \
  X(Take4Call3)                                                                                              \
  X(Make1) /* d = a data value with header number and the fields in slots takes */                           \
  X(Make2)                                                                                                   \
  X(Make3)                                                                                                   \
  X(Make4)                                                                                                   \
  X(MakeConst1) /* the same, field number a being the number in jump */                                      \
  X(MakeConst2)                                                                                              \
  X(MakeConst3)                                                                                              \
  X(MakeConst4)                                                                                              \
  X(ReturnMake1) /* Make1, and returns what was made */                                                      \
  X(ReturnMake2)                                                                                             \
  X(ReturnMake3)                                                                                             \
  X(ReturnMake4)                                                                                             \
  X(ReturnMakeConst1)                                                                                        \
  X(ReturnMakeConst2)                                                                                        \
  X(ReturnMakeConst3)                                                                                        \
  X(ReturnMakeConst4)                                                                                        \
  X(MakeHole1) /* Make1, and the HoleOf behind it */                                                         \
  X(MakeHole2)                                                                                               \
  X(MakeHole3)                                                                                               \
  X(MakeHole4)                                                                                               \
  X(MakeConstHole1)                                                                                          \
  X(MakeConstHole2)                                                                                          \
  X(MakeConstHole3)                                                                                          \
  X(MakeConstHole4)                                                                                          \
  X(MakeToHole1) /* the same, and the FillHole behind that, which is for what was made */                    \
  X(MakeToHole2)                                                                                             \
  X(MakeToHole3)                                                                                             \
  X(MakeToHole4)                                                                                             \
  X(MakeConstToHole1)                                                                                        \
  X(MakeConstToHole2)                                                                                        \
  X(MakeConstToHole3)                                                                                        \
  X(MakeConstToHole4)                                                                                        \
  X(MakeN)        /* Make by the list made */                                                                \
  X(HoleOf)       /* d = address of field number of the data value in a */                                   \
  X(FillHole)     /* what the address in a refers to = slot in b */                                          \
  X(ReturnToHole) /* the same, and returns nothing */                                                        \
  X(Tensor)       /* d = the operation `tensor` on tensors and scalars, which those up to SizeOf have too */ \
  X(ElementOf8)   /* d = the element of the tensor in a whose number is in b; of 8 bytes */                  \
  X(ElementOf4)   /* of 4 */                                                                                 \
  X(ElementOf1)   /* of 1 */                                                                                 \
  X(ElementOf8In2) /* the same of a tensor of two axes: the numbers are in b and c */                        \
  X(ElementOf4In2)                                                                                           \
  X(ElementOf1In2)                                                                                           \
  X(SetElementOf8) /* d = the tensor in a, which gives its reference up, with b as the element number c */   \
  X(SetElementOf4)                                                                                           \
  X(SetElementOf1)                                                                                           \
  X(SetElementOf8In2) /* the same of a tensor of two axes: the numbers are in c and takes[0] */              \
  X(SetElementOf4In2)                                                                                        \
  X(SetElementOf1In2)                                                                                        \
  X(AppendElement8) /* d = the tensor of one axis in a, which gives its reference up, with b behind it */    \
  X(AppendElement4)                                                                                          \
  X(AppendElement1)                                                                                          \
  X(DropLastRow)        /* d = the tensor in a, which gives its reference up, without its last row */        \
  X(SizeOf)             /* d = the size along axis takes[0] of the tensor in a */                            \
  X(ConstSetElementOf8) /* a Const and the SetElementOf8 behind it, which writes it */                       \
  X(ConstSetElementOf4)                                                                                      \
  X(ConstSetElementOf1)                                                                                      \
  X(RetainTensor)  /* one more reference to the tensor in a */                                               \
  X(ReleaseTensor) /* one less */                                                                            \
  X(StringLength)  /* d = how many code points the string in a has */                                        \
  X(CodePoint)     /* d = the code point of the string in a whose number is in b */                          \
  X(Settle)        /* the suspension in a holds what is in b, by the layout number */                        \
  X(Print)         /* prints the string in a */                                                              \
  X(Parameter)     /* d = parameter number of the program, without a reference of its own */                 \
  X(BeginCall)     /* in traced plans: the next instruction is a call */                                     \
  X(EndCall)       /* in traced plans: the call before has returned */

// Forms of the instructions that compute, by what their operands are.
#define HIATON_UNARY_FORMS(Name, F, In, Out) HIATON_OPCODE(Name##_Slot)
#define HIATON_BINARY_FORMS(Name, F, In, Out) \
  HIATON_OPCODE(Name##_SlotSlot) HIATON_OPCODE(Name##_SlotConst) HIATON_OPCODE(Name##_ConstSlot)
// Unless: if not P(a, b): pc += jump. While: if P(a, b): pc += jump, and answers polls. b is the slot in d
// for SlotSlot, the constant for SlotConst.
#define HIATON_BRANCH_FORMS(Name, F, In, Out) \
  HIATON_OPCODE(Unless##Name##_SlotSlot)      \
  HIATON_OPCODE(Unless##Name##_SlotConst)     \
  HIATON_OPCODE(While##Name##_SlotSlot) HIATON_OPCODE(While##Name##_SlotConst)
// Result: the left operand comes from the register that holds the result of an instruction before, instead of
// from slot a, which holds it too. Slots are memory: what is read right behind its computation comes late.
#define HIATON_UNARY_RESULT_FORMS(Name, F, In, Out) HIATON_OPCODE(Name##_Result)
#define HIATON_BINARY_RESULT_FORMS(Name, F, In, Out) \
  HIATON_OPCODE(Name##_ResultSlot) HIATON_OPCODE(Name##_ResultConst)
#define HIATON_BRANCH_RESULT_FORMS(Name, F, In, Out) \
  HIATON_OPCODE(Unless##Name##_ResultSlot)           \
  HIATON_OPCODE(Unless##Name##_ResultConst)          \
  HIATON_OPCODE(While##Name##_ResultSlot) HIATON_OPCODE(While##Name##_ResultConst)
// Return: returns P(a, b).
#define HIATON_RETURN_FORMS(Name, F, In, Out) \
  HIATON_OPCODE(Return##Name##_SlotSlot) HIATON_OPCODE(Return##Name##_SlotConst)
// If and IfNot: if P(a, b) (or if not): returns `other` (_Const), or the slot in c (_Slot). b as for Unless.
// The formatter never settles on a layout of this one.
// clang-format off
#define HIATON_RETURN_IF_FORMS(Name, F, In, Out)                                         \
  HIATON_OPCODE(If##Name##_SlotSlot_Const) HIATON_OPCODE(If##Name##_SlotSlot_Slot)       \
  HIATON_OPCODE(If##Name##_SlotConst_Const) HIATON_OPCODE(If##Name##_SlotConst_Slot)     \
  HIATON_OPCODE(IfNot##Name##_SlotSlot_Const) HIATON_OPCODE(IfNot##Name##_SlotSlot_Slot) \
  HIATON_OPCODE(IfNot##Name##_SlotConst_Const) HIATON_OPCODE(IfNot##Name##_SlotConst_Slot)
// clang-format on

/// Expands HIATON_OPCODE, which the user defines, for every opcode in order.
#define HIATON_ALL_OPCODES                              \
  HIATON_CONTROL_INSTRUCTIONS(HIATON_OPCODE)            \
  HIATON_FAST_BINARY(HIATON_BINARY_FORMS)               \
  HIATON_FAST_UNARY(HIATON_UNARY_FORMS)                 \
  HIATON_FAST_PREDICATES(HIATON_BRANCH_FORMS)           \
  HIATON_RETURNED_KERNELS(HIATON_RETURN_FORMS)          \
  HIATON_RETURN_PREDICATES(HIATON_RETURN_IF_FORMS)      \
  HIATON_INTEGER_UNARY(HIATON_UNARY_RESULT_FORMS)       \
  HIATON_INTEGER_ARITHMETIC(HIATON_BINARY_RESULT_FORMS) \
  HIATON_INTEGER_PREDICATES(HIATON_BRANCH_RESULT_FORMS)

enum class Opcode : uint16_t {
#define HIATON_OPCODE(Name) Name,
  HIATON_ALL_OPCODES
#undef HIATON_OPCODE
};

struct Instruction {
  const void* handler = nullptr;  ///< where the interpreter goes on for this opcode
  uint16_t d = 0;
  uint16_t a = 0;
  union {
    uint16_t bc[2];    ///< see b() and c()
    int32_t jump = 0;  ///< in instructions, relative to this one
    uint32_t count;    ///< of the jumps in a table
  };
  union {
    Slot constant;
    const Instruction* target;
    const CallList* calls;
    const ReturnList* returns;
    const Group* group;
    const TakeList* taken;
    const MakeList* made;
    const TensorOperation* tensor;
    const int32_t* jumps;  ///< relative to this instruction: see jumps_by_table
    Kernel kernel;
    uint64_t number;
  };

  union {
    int16_t plus[4] = {};  ///< Call and TailCall: added to each argument in the instruction
    Slot other;            ///< the constant to return, where `constant` is what is compared with
    int64_t least;
    const int64_t* begins;
    uint16_t takes[4];  ///< Take and Make: the slots of the fields; Make: see is_in_list(); Peek: see there
  };

  Instruction() : constant() {}
  uint16_t& b() { return bc[0]; }
  uint16_t b() const { return bc[0]; }
  uint16_t& c() { return bc[1]; }
  uint16_t c() const { return bc[1]; }
};
static_assert(sizeof(Instruction) == 32);

/// Whether it goes on where one of `jumps` says. MatchJump has one for each variant of the type that is
/// matched.
constexpr bool jumps_by_table(Opcode opcode) {
  return opcode == Opcode::MatchJump || opcode == Opcode::NumberJump || opcode == Opcode::IntervalJump;
}

/// Whether a call or tail call passes what stands in its CallList.
constexpr bool passes_list(Opcode call) {
  return call == Opcode::CallN || call == Opcode::TailCallN;
}
constexpr bool is_tail_call(Opcode call) {
  return call >= Opcode::TailCall1;
}

/// Whether it does what its TensorOperation says.
constexpr bool has_tensor_operation(Opcode opcode) {
  return opcode >= Opcode::Tensor && opcode <= Opcode::SizeOf;
}

/// The most fields that a Peek instruction reads.
inline constexpr std::size_t kMostPeeked = 3;
/// Which field a Peek instruction reads to which slot. The first stands in d and the lower half of number,
/// the others in takes.
struct PeekedField {
  uint16_t slot;
  uint16_t field;
};
[[gnu::always_inline]] inline PeekedField peeked(const Instruction& peek, std::size_t i) {
  if (i == 0) return {peek.d, static_cast<uint16_t>(peek.number)};
  return {peek.takes[2 * i - 2], peek.takes[2 * i - 1]};
}

/// Whether a Make instruction of at most three fields makes a value of a list, which is to stand near the
/// others of the list.
[[gnu::always_inline]] inline bool is_in_list(const Instruction& make) {
  return make.takes[3] != 0;
}
inline void set_in_list(Instruction& make) {
  make.takes[3] = 1;
}

}  // namespace hiaton::exec::direct
