#include "ops/families.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/reshaping_kernels.h"
#include "ops/typed.h"

namespace hiaton::ops {

using namespace kernels;

const OpDef logical_and = {
    .name = std::string_view("and"),
    .symbol = std::string_view(""),
    .doc = std::string_view("Whether both hold, both operands computed. The language's `and` skips its right "
                            "side and becomes an if."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_bool,
    .kernels = binary_kernels<And, bool>(),
    .tensor_kernel = typed_predicate<And, bool>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::Commutative,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{true, false}, false}, {{true, true}, true}},
};

const OpDef logical_or = {
    .name = std::string_view("or"),
    .symbol = std::string_view(""),
    .doc = std::string_view("Whether at least one holds, both operands computed. The language's `or` skips "
                            "its right side and becomes an if."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_bool,
    .kernels = binary_kernels<Or, bool>(),
    .tensor_kernel = typed_predicate<Or, bool>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::Commutative,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{true, false}, true}, {{false, false}, false}},
};

const OpDef logical_not = {
    .name = std::string_view("not"),
    .symbol = std::string_view("not"),
    .doc = std::string_view("The other truth value."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_bool,
    .kernels = unary_kernels<Not, bool>(),
    .tensor_kernel = typed_cast<Not, bool, bool>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{true}, false}, {{false}, true}},
};

const OpDef identity = {
    .name = std::string_view("identity"),
    .symbol = std::string_view(""),
    .doc = std::string_view("Its operand, unchanged."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = any_type,
    .kernels = unary_kernels<Identity, bool, int32_t, int64_t, float, double>(),
    .tensor_kernel = copy_kernel,
    .gradient = Gradient{by_operand<pass>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{3}, 3}, {{true}, true}},
};

}  // namespace hiaton::ops
