// Models: losses with gradients of the parameters they read.
#include "hiaton/model.h"

#include <gtest/gtest.h>

namespace hiaton {
namespace {

/// The gradient of one parameter with one element.
double gradient_of(const std::string& text, Executor executor, int64_t argument) {
  const Model model = Model::from_text("model.hia", text, {.simplify = passes::SimplifyOptions::none()});
  const std::vector<Value> parameters = model.initial_parameters(1);
  Gradients gradients(model.parameters());
  const std::vector<std::vector<Value>> examples = {{argument}};
  model.loss(examples, {.executor = executor, .parameters = parameters, .gradients = &gradients});
  return *gradients[0].values.data<double>();
}

TEST(Model, FunctionsWithoutArgumentsHaveGradients) {
  const std::string text =
      "param W: f64[1] = ones\n"
      "fn cube() -> f64 = sum(W) * sum(W) * sum(W)\n"
      "fn loss(n: i64) -> f64 = if n == 0 then 0.0 else cube() + loss(n - 1)\n";
  for (const Executor executor : {Executor::Production, Executor::Reference, Executor::Expanding}) {
    EXPECT_EQ(gradient_of(text, executor, 4), 12.0);
  }
}

}  // namespace
}  // namespace hiaton
