// The papers' tables of TreeRNN, and the depth test.
#include "commands.h"
#include "measure.h"
#include "styles.h"

namespace hiaton::benchmarks {

nlohmann::json measure_style(const Options& options) {
  const Corpus corpus = corpus_of(options);
  const std::unique_ptr<Trainee> trainee =
      make_treernn(style_named(options.style), options.root, corpus, options.hidden);
  Batches batches(corpus, options.batch);
  double last_loss = 0;
  const auto pass = [&](std::size_t steps, const auto& work) {
    for (std::size_t step = 0; step < steps; ++step) work(batches.next());
  };
  const auto train = [&](const auto& batch) { last_loss = trainee->step(batch); };
  const auto predict = [&](const auto& batch) { trainee->predict(batch); };
  double first_loss = 0;
  pass(1, [&](const auto& batch) { first_loss = trainee->loss_and_gradients(batch); });
  batches.restart();
  pass(2, train);
  std::vector<double> training_rates, inference_rates;
  const auto instances = static_cast<double>(options.steps * options.batch);
  for (std::size_t round = 0; round < options.rounds; ++round) {
    training_rates.push_back(instances / seconds_of([&] { pass(options.steps, train); }));
    inference_rates.push_back(instances / seconds_of([&] { pass(options.steps, predict); }));
  }
  return {{"training_instances_per_second", median(training_rates)},
          {"inference_instances_per_second", median(inference_rates)},
          {"first_loss", first_loss},
          {"last_loss", last_loss}};
}

nlohmann::json measure_depth(const Options& options) {
  constexpr int kSteps = 100;
  constexpr float kRate = 1e-10F;
  const Program program =
      Program::from_text("power",
                         "fn power(x: f32, n: i64) -> f32 = if n == 0 then 1.0 else x * power(x, n - 1)\n"
                         "fn main(x: f32, n: i64) -> (f32, f32) = value_and_grad(power)(x, n)\n");
  RunStats stats;
  float x = 1;
  const auto descend = [&](int steps) {
    for (int step = 0; step < steps; ++step) {
      const RunResult result = program.run({Value(x), Value(options.depth)}, {.stats = &stats});
      x -= kRate * result.values[1].as<float>();
    }
  };
  descend(1);
  std::vector<double> seconds;
  for (std::size_t round = 0; round < options.rounds; ++round)
    seconds.push_back(seconds_of([&] { descend(kSteps); }));
  const double levels = static_cast<double>(options.depth);
  return {{"seconds", median(seconds)},
          {"seconds_per_level", median(seconds) / kSteps / levels},
          {"bytes_per_level", static_cast<double>(stats.bytes) / levels},
          {"x", x}};
}

}  // namespace hiaton::benchmarks
