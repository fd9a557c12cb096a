#include "passes/suspended_types.h"

namespace hiaton::passes {

const OpDef& settle_operation() {
  static const OpDef settle{
      .name = "settle",
      .doc = "A value that a suspension was made for; the suspension holds it from then on.",
      .operands = {"value", "suspension"},
      .attributes = {{.name = "variant"}},
      .type_rule = [](const TypeQuestion& question) { return question.operands[0]; },
      .tensor_kernel = nullptr,
      .gradient = Gradient::none("gradients are derived before there are suspensions"),
      .fusion = Fusion::Data,
      .role = Role::Settle,
      .samples = std::vector<Sample>{},
  };
  return settle;
}

}  // namespace hiaton::passes
