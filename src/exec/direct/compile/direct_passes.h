// The passes that make a plan of direct code, in the order in which compile() runs them. Each needs what
// those before it have made.
//   1. find_structure    Promises blocks, and in each block items in an order in which every value is
//                        computed before it is read.
//   2. sink_fields       Moves items; the order stays such a one.
//   3. delay_updates     The same.
//   4. measure           How long values are read (lifetimes.h); Ownership, who holds counted values.
//   5. make_schedule     The statements of each body (schedule.h), which emission only reads. verify() checks
//                        what they promise; debug builds run it after them.
//   6. assign_slots      Which slots of the frame the statements use (assign_slots.h). verify_slots() checks
//                        it, in debug builds.
//   7. emit_body         Instructions (emit.h), to which compile() then gives the addresses of each other.
//   8. forward_results   Changes instructions in place.
//   9. set_handlers      Writes the code of the interpreter into them (run/interpret.h). From then on the
//                        plan is frozen: runs read it, nobody changes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/direct/direct_plan.h"
#include "exec/structure.h"
#include "hiaton/run.h"

namespace hiaton::exec::direct {

/// Returns the structure of these functions, which call no others, or nothing and in `reason` why there is
/// none. Calls, or branches and loops with calls, that do not need each other stand together.
std::optional<Structure> find_structure(const graph::Graph& graph, std::vector<bool> functions,
                                        std::string& reason);
/// Returns the structure of all functions.
std::optional<Structure> find_structure(const graph::Graph& graph, std::string& reason);

/// Moves the reading of fields to where they are needed. A field of a data value that nothing in its block
/// reads but one branch is read at the begin of each side of it that needs it, unless a call stands between,
/// or it is a scalar that both sides need. There the value is often read for the last time, and can be taken
/// apart; on the other side it stays whole. Not in loops, whose iterations are cut into tasks by item.
void sink_fields(const graph::Graph& graph, Structure& structure);

/// Moves the operations that compute the next values of loop variables behind what reads the present ones. An
/// operation on scalars that cannot fail and whose result is a variable's value in the next iteration stands
/// behind the last operation of the body that reads the variable, where only operations that do not need the
/// result stand between. Then the variable's slot is free, and takes the result without a move.
void delay_updates(const graph::Graph& graph, Structure& structure, OverflowMode overflow);

/// Results that the next instructions read come to them in a register: gives instructions of linked code
/// whose left operand is the latest result their Result form.
void forward_results(Plan& plan);

}  // namespace hiaton::exec::direct
