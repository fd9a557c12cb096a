// Gradients that a module asks for: one after the other.
#include <gmock/gmock.h>

#include "passes/support.h"

namespace hiaton::passes {
namespace {

using testing::HasSubstr;

constexpr const char* kTwo =
    "fn square(x: f64) -> f64 = x * x\n\n"
    "fn slope(x: f64) -> f64 = grad(square)\n\n"
    "fn both(x: f64) -> (f64, f64) = value_and_grad(square)\n";

TEST(AddGradient, LeavesTheOthersOpen) {
  const ir::Module before = parse(kTwo);
  ASSERT_EQ(before.gradient_requests.size(), 2u);
  const ir::Module after = add_gradient(before, before.gradient_requests[0]);
  ASSERT_EQ(after.gradient_requests.size(), 1u);
  EXPECT_EQ(after[after.gradient_requests[0].function].name, "both");
  EXPECT_NO_THROW(ir::verify(after));
  EXPECT_THAT([&] { ir::print(after); },
              testing::ThrowsMessage<ProgramError>(HasSubstr("gathers gradients: no program text says how")));
}

TEST(AddGradients, LeavesNoneOpen) {
  const ir::Module after = add_gradients(parse(kTwo));
  EXPECT_TRUE(after.gradient_requests.empty());
  EXPECT_NO_THROW(ir::verify(after));
}

/// Also where the first gradient only waits for one that does.
TEST(AddGradients, SaysWhichOneDependsOnItself) {
  const ir::Module module = parse(
      "fn first(x: f64) -> f64 = grad(waits)\n"
      "fn waits(x: f64) -> f64 = x + own(x)\n"
      "fn own(x: f64) -> f64 = x * grad(own)(x)\n");
  EXPECT_THAT([&] { add_gradients(module); },
              testing::ThrowsMessage<ProgramError>(testing::StartsWith(
                  "test.hia:3:1: error: the gradient of 'own' depends on itself\n 3 | fn own(x: f64)")));
}

}  // namespace
}  // namespace hiaton::passes
