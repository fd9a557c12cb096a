#include "ops/families.h"
#include "ops/family.h"
#include "ops/typed.h"

namespace hiaton::ops {

using namespace kernels;

const OpDef eq = {
    .name = std::string_view("eq"),
    .symbol = std::string_view("=="),
    .doc = std::string_view("Whether both are equal; NaN equals nothing."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = compare_any,
    .kernels = predicate_kernels<Eq, bool, int32_t, int64_t, float, double>(),
    .tensor_kernel = typed_predicate<Eq, bool, int32_t, int64_t, float, double>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::Commutative,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2, 2}, true}, {{true, false}, false}},
};

const OpDef ne = {
    .name = std::string_view("ne"),
    .symbol = std::string_view("!="),
    .doc = std::string_view("Whether they differ."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = compare_any,
    .kernels = predicate_kernels<Ne, bool, int32_t, int64_t, float, double>(),
    .tensor_kernel = typed_predicate<Ne, bool, int32_t, int64_t, float, double>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::Commutative,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2, 2}, false}, {{true, false}, true}},
};

const OpDef lt = {
    .name = std::string_view("lt"),
    .symbol = std::string_view("<"),
    .doc = std::string_view("Whether a is less than b."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = compare_numbers,
    .kernels = predicate_kernels<Lt, int32_t, int64_t, float, double>(),
    .tensor_kernel = typed_predicate<Lt, int32_t, int64_t, float, double>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{1, 2}, true}, {{2.0, 2.0}, false}},
};

const OpDef le = {
    .name = std::string_view("le"),
    .symbol = std::string_view("<="),
    .doc = std::string_view("Whether a is at most b."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = compare_numbers,
    .kernels = predicate_kernels<Le, int32_t, int64_t, float, double>(),
    .tensor_kernel = typed_predicate<Le, int32_t, int64_t, float, double>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2, 2}, true}, {{3, 2}, false}},
};

const OpDef gt = {
    .name = std::string_view("gt"),
    .symbol = std::string_view(">"),
    .doc = std::string_view("Whether a is greater than b."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = compare_numbers,
    .kernels = predicate_kernels<Gt, int32_t, int64_t, float, double>(),
    .tensor_kernel = typed_predicate<Gt, int32_t, int64_t, float, double>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{1, 2}, false}, {{3.0, 2.0}, true}},
};

const OpDef ge = {
    .name = std::string_view("ge"),
    .symbol = std::string_view(">="),
    .doc = std::string_view("Whether a is at least b."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = compare_numbers,
    .kernels = predicate_kernels<Ge, int32_t, int64_t, float, double>(),
    .tensor_kernel = typed_predicate<Ge, int32_t, int64_t, float, double>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2, 2}, true}, {{1, 2}, false}},
};

}  // namespace hiaton::ops
