// Models: losses with gradients of the parameters they read.
#include "hiaton/model.h"

#include <gmock/gmock.h>

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

TEST(Model, FunctionsKeepTheNamesThatTheProgramGaveThem) {
  const Model model = Model::from_text("model.hia",
                                       "param W: f64[2] = ones\n"
                                       "fn main(n: i64) -> i64 = 1 / (n - 1)\n"
                                       "fn training_step(n: i64) -> i64 = main(n) + 1\n"
                                       "fn loss(n: i64) -> f64 = sum(W) * f64(training_step(n))\n",
                                       {.simplify = passes::SimplifyOptions::none()});
  const std::vector<Value> parameters = model.initial_parameters(1);
  const std::vector<std::vector<Value>> examples = {{Value(int64_t{1})}};
  for (const Executor executor : {Executor::Production, Executor::Reference}) {
    Gradients gradients(model.parameters());
    try {
      model.loss(examples, {.executor = executor, .parameters = parameters, .gradients = &gradients});
      FAIL() << "expected a division by zero";
    } catch (const RunError& error) {
      std::vector<std::string> functions;
      for (const CallRecord& call : error.chain()) functions.push_back(call.function);
      EXPECT_THAT(functions, testing::ElementsAre("main", "training_step", "loss")) << error.what();
    }
  }
}

TEST(Model, GradientsAreThoseOfItsParameters) {
  const Model model = Model::from_text("a.hia", "param w: f32[3]\nfn loss(x: f32) -> f32 = sum(w) * x\n");
  const Model other = Model::from_text("b.hia", "param w: f32[2]\nfn loss(x: f32) -> f32 = sum(w) * x\n");
  const Model larger =
      Model::from_text("c.hia", "param w: f32[3]\nparam q: f32[1]\nfn loss(x: f32) -> f32 = sum(w) * x\n");
  const std::vector<Value> parameters = model.initial_parameters(1);
  const std::vector<std::vector<Value>> examples = {{1.0F}};
  Gradients own(model.parameters());
  const auto refused = [](const char* message) { return testing::ThrowsMessage<ProgramError>(message); };
  const auto loss_with = [&](Gradients& gradients) {
    model.loss(examples, {.parameters = parameters, .gradients = &gradients});
  };
  loss_with(own);
  Gradients others(other.parameters());
  Gradients more(larger.parameters());
  EXPECT_THAT([&] { loss_with(others); },
              refused("expected the gradient of parameter 'w' to be of type f32[3], found f32[2]"));
  EXPECT_THAT([&] { loss_with(more); },
              refused("expected gradients of the 1 parameters of the program, found those of 2"));
  EXPECT_THAT([&] { own.add(others); },
              refused("expected gradients of the same parameters, found those of others"));
}

}  // namespace
}  // namespace hiaton
