// Gradients of random programs on numbers, vectors, lists and trees: the same bits in every executor, for any
// number of workers, with batches and without, and however much is computed again; and by finite differences.
//
// HIATON_PROGRAMS=1000000 HIATON_SEED=7 test_properties --gtest_filter=*RandomTensorPrograms.*
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/floats.h"
#include "hiaton/hiaton.h"
#include "hiaton/model.h"
#include "properties/differentiable.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kTensorPrograms = sized_programs(2'000, 100);
constexpr std::size_t kExamples = 2;
/// The sums of the gradients of learned parameters are made in another order where the batches are others.
constexpr double kTolerance = 1e-11;

using Lists = std::vector<std::vector<Value>>;

Lists examples_for(const hiaton::Program& program, uint64_t seed) {
  std::vector<Type> types;
  for (const EntryParameter& parameter : program.parameters()) types.push_back(parameter.type);
  Lists examples;
  for (std::size_t i = 0; i < kExamples; ++i)
    examples.push_back(random_arguments(types, seed * kExamples + i));
  return examples;
}

std::vector<Value> parameters_of(const hiaton::Program& program) {
  return initial_parameters(program.graph().parameters(), 1);
}

/// Whether the slope is that of the values, or the values have a corner here, where their slopes differ.
template <class F>
bool is_slope(double found, const F& value) {
  const auto slope = [&](double h) { return (value(h) - value(-h)) / (2 * h); };
  const auto close = [](double a, double b) {
    return std::abs(a - b) <= 2e-5 * (1 + std::abs(a) + std::abs(b));
  };
  const double wide = slope(1e-5);
  return close(found, wide) || !close(wide, slope(1e-6)) ||
         !close((value(1e-6) - value(0)) / 1e-6, (value(0) - value(-1e-6)) / 1e-6);
}

bool close(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::abs(x - y) <= kTolerance * (1 + std::abs(x) + std::abs(y));
  });
}

std::vector<double> floats_of_all(const Lists& lists) {
  std::vector<double> all;
  for (const std::vector<Value>& values : lists) {
    for (double number : floats_of(values)) all.push_back(number);
  }
  return all;
}

/// Marked functions are neither inlined nor split into phases: where there is no mark, sums may be made in
/// another order.
CompileOptions options_for(const Differentiable& program) {
  CompileOptions options;
  options.simplify.inline_small = program.seed / 4 % 2 == 0;
  return options;
}

struct Setting {
  bool recompute;
  RunOptions options;
  std::string name() const {
    return fmt::format("recompute {}, {} workers, batching {}{}", recompute, options.workers,
                       options.batching, options.share_every_call ? ", every call shared" : "");
  }
};

/// The most frames of the reference executor; a program that needs more, as one whose trees grow from call to
/// call, is left out.
constexpr uint64_t kMostFrames = 100'000;

/// Half of all settings, so that each is taken by every other program.
std::vector<Setting> settings_for(const Differentiable& program) {
  std::vector<Setting> settings;
  for (const int workers : {1, 2, 8}) {
    const bool batching = (program.seed / 8 + static_cast<uint64_t>(workers / 2)) % 2 == 0;
    settings.push_back({false, {.workers = workers, .batching = batching}});
    settings.push_back({true, {.workers = workers, .batching = !batching}});
    if (workers == 2 || (workers == 8 && program.seed % 16 == 0)) {
      settings.push_back(
          {program.seed % 2 == 0, {.workers = workers, .batching = batching, .share_every_call = true}});
    }
  }
  std::erase_if(settings, [](const Setting& setting) { return !has_to_run(setting.options.workers); });
  return settings;
}

/// Some are derived twice.
int order_of(const Differentiable& program) {
  return program.seed % 32 == 10 ? 2 : 1;
}

/// The gradients by the arguments of `loss`. Empty, or what is wrong.
std::string wrong_by_arguments(const Differentiable& program) {
  const int order = order_of(program);
  const CompileOptions options = options_for(program);
  const hiaton::Program kept =
      hiaton::Program::from_text("kept.hia", program.with_main(false, order), options);
  const hiaton::Program again =
      hiaton::Program::from_text("again.hia", program.with_main(true, order), options);
  const Lists examples = examples_for(kept, program.seed);
  const std::vector<Value> parameters = parameters_of(kept);
  const auto run = [&](const hiaton::Program& which, RunOptions run_options) {
    run_options.parameters = parameters;
    return which.run_all(examples, run_options);
  };
  const Lists expected = run(kept, {.executor = Executor::Reference, .max_frames = kMostFrames});
  const Lists expected_again = run(again, {});
  if (!close(floats_of_all(expected), floats_of_all(expected_again))) return "recompute";
  if (program.seed % 8 == 0 && has_to_run(1)) {
    if (run(again, {.executor = Executor::Reference}) != expected_again) return "recompute, reference";
    if (run(again, {.executor = Executor::Expanding}) != expected_again) return "recompute, expanding";
  }
  for (const Setting& setting : settings_for(program)) {
    const hiaton::Program& which = setting.recompute ? again : kept;
    if (run(which, setting.options) != (setting.recompute ? expected_again : expected)) return setting.name();
  }
  if (program.seed % 10 != 0) return "";  // by differences: a sample
  const std::vector<Value>& at = examples[0];
  const std::vector<double> found = floats_of({expected[0].begin() + 1, expected[0].end()});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto value = [&](double by) {
      const std::vector<Value> there = moved(at, static_cast<int64_t>(i), by);
      return kept.run(there, {.parameters = parameters}).values[0].as<double>();
    };
    if (!is_slope(found[i], value)) return fmt::format("the gradient by float {} is no slope", i);
  }
  return "";
}

/// The value of the loss, summed, and the gradients by the learned parameters.
std::vector<double> learned(const Model& model, const Lists& examples, const std::vector<Value>& parameters,
                            RunOptions options) {
  Gradients gradients(model.parameters());
  options.parameters = parameters;
  options.gradients = &gradients;
  std::map<std::size_t, std::vector<double>> complete;
  options.on_gradient = [&](std::size_t parameter) {
    collect_floats(gradients[parameter].values, complete[parameter]);
  };
  std::vector<double> all{0};
  for (const std::vector<Value>& results : model.loss(examples, options)) all[0] += results[0].as<double>();
  for (const auto& [parameter, told] : complete) {
    std::vector<double> sum;
    collect_floats(gradients[parameter].values, sum);
    EXPECT_EQ(told, sum) << "the gradient of a parameter that was complete has changed";
  }
  for (std::size_t p = 0; p < gradients.size(); ++p) collect_floats(gradients[p].values, all);
  return all;
}

/// The same gradients, asked for inside a program: they go up through the calls, and not into sums of the
/// run.
std::string wrong_inside(const Differentiable& program, const std::vector<double>& expected) {
  const bool is_vjp = program.seed / 4 % 2 == 0;
  const std::string main =
      is_vjp ? fmt::format(
                   "fn main({0}) -> (f64, f64[d, d], f64[d]) =\n"
                   "  let (by_b, by_W) = vjp(loss, wrt=(b, W))({1}, 1)\n"
                   "  (loss({1}), by_W, by_b)\n",
                   program.params, program.names)
             : fmt::format(
                   "fn main({}) -> (f64, f64[d, d], f64[d]) = value_and_grad(loss, wrt=(W, param b))({})\n",
                   program.params, program.names);
  const bool recompute = program.seed / 8 % 2 == 0;
  const hiaton::Program inside =
      hiaton::Program::from_text("inside.hia", program.program(recompute) + main, options_for(program));
  const Lists examples = examples_for(inside, program.seed);
  const std::vector<Value> parameters = parameters_of(inside);
  const Lists found = inside.run_all(examples, {.workers = 2, .parameters = parameters});
  std::vector<double> sums(expected.size());
  for (const std::vector<Value>& results : found) {
    const std::vector<double> floats = floats_of(results);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += floats.at(i);
  }
  if (!close(sums, expected)) return "the gradients inside a program";
  const bool is_sample = program.seed % 16 == 3;
  const bool same = !is_sample || inside.run_all(examples, {.executor = Executor::Reference,
                                                            .parameters = parameters}) == found;
  return same ? "" : "the gradients inside a program, reference";
}

std::string wrong_by_parameters(const Differentiable& program) {
  const Model kept = Model::from_text("kept.hia", program.program(false), options_for(program));
  const Model again = Model::from_text("again.hia", program.program(true), options_for(program));
  const Lists examples = examples_for(kept.loss_program(), program.seed);
  const std::vector<Value> parameters = kept.initial_parameters(1);
  const std::vector<double> expected =
      learned(kept, examples, parameters, {.executor = Executor::Reference, .max_frames = kMostFrames});
  for (const Setting& setting : settings_for(program)) {
    const std::vector<double> found =
        learned(setting.recompute ? again : kept, examples, parameters, setting.options);
    if (!close(found, expected)) return setting.name();
  }
  if (std::string wrong = wrong_inside(program, expected); !wrong.empty()) return wrong;
  const Model& either = program.seed % 8 == 3 ? kept : again;
  const std::vector<double> parts = learned(either, examples, parameters, {.parts = 2});
  for (const int workers : {2, 8}) {
    if (learned(either, examples, parameters, {.workers = workers, .parts = 2}) != parts)
      return "the bits of two parts";
  }
  if (program.seed % 5 != 3) return "";
  for (std::size_t i = 1; i < expected.size(); ++i) {
    const auto value = [&](double by) {
      const std::vector<Value> there = moved(parameters, static_cast<int64_t>(i - 1), by);
      double sum = 0;
      for (const std::vector<Value>& results : kept.loss(examples, {.parameters = there}))
        sum += results[0].as<double>();
      return sum;
    };
    if (!is_slope(expected[i], value)) return fmt::format("the gradient by weight {} is no slope", i - 1);
  }
  return "";
}

/// The value of the loss alone, in direct code: whether its bits are those of the reference, and nothing is
/// left over.
std::string wrong_values(const Differentiable& program) {
  const std::string main = fmt::format("fn main({}) -> f64 = loss({})\n", program.params, program.names);
  const hiaton::Program loss =
      hiaton::Program::from_text("loss.hia", program.program(false) + main, options_for(program));
  const std::vector<Value> parameters = parameters_of(loss);
  for (const std::vector<Value>& arguments : examples_for(loss, program.seed)) {
    const std::vector<Value> expected =
        loss.run(arguments,
                 {.executor = Executor::Reference, .max_frames = kMostFrames, .parameters = parameters})
            .values;
    for (const int workers : {1, program.seed % 2 == 0 ? 2 : 8}) {
      if (!has_to_run(workers)) continue;
      RunStats stats;
      const std::vector<Value> found = loss.run(arguments, {.workers = workers,
                                                            .stats = &stats,
                                                            .parameters = parameters,
                                                            .batching = false,
                                                            .checks_counts = true})
                                           .values;
      if (found != expected) return fmt::format("the value, {} workers, without batches", workers);
      if (stats.values_live_at_end != 0) return "values are left over";
      if (!stats.fallback.empty()) return stats.fallback;
    }
  }
  return "";
}

/// So many parts of the programs, which may be tested at the same time.
constexpr uint64_t kShares = 5;

class RandomTensorPrograms : public testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Share, RandomTensorPrograms, testing::Range(uint64_t{0}, kShares));

TEST_P(RandomTensorPrograms, HaveTheSameGradientsHoweverTheyRun) {
  const uint64_t first = from_environment("HIATON_SEED", 0);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kTensorPrograms);
  for (uint64_t seed = first + GetParam(); seed < first + count; seed += kShares) {
    const Differentiable program = generate_differentiable(seed);
    std::string wrong;
    try {
      wrong = seed % 4 == 3 ? wrong_by_parameters(program) : wrong_by_arguments(program);
      if (wrong.empty()) wrong = wrong_values(program);
    } catch (const RunError& error) {
      if (error.fault() != Fault::MaxFrames) wrong = error.what();
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    ASSERT_EQ(wrong, "") << "seed " << seed << "\n" << program.with_main(true, order_of(program));
  }
}

}  // namespace
}  // namespace hiaton::properties
