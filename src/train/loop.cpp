// The training loop.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <type_traits>

#include "hiaton/error.h"
#include "hiaton/optimizer.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/gradient.h"
#include "train/random_stream.h"
#include "train/run_files.h"
#include "train/shuffle.h"
#include "train/timeline.h"
#include "train/trainee.h"

namespace hiaton::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What is trained is cancelled by the flag as long as this lives.
class Cancelling {
 public:
  Cancelling(Trainee& trainee, const std::atomic<bool>* cancel) : trainee_(trainee) {
    trainee_.cancel_by(cancel);
  }
  Cancelling(const Cancelling&) = delete;
  Cancelling& operator=(const Cancelling&) = delete;
  ~Cancelling() { trainee_.cancel_by(nullptr); }

 private:
  Trainee& trainee_;
};

/// All parameters are at process 0 as long as this lives.
class Whole {
 public:
  Whole(Trainee& trainee, Optimizer& optimizer) : trainee_(trainee), optimizer_(optimizer) {
    trainee_.bring_all(optimizer);
  }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  ~Whole() { trainee_.keep_own(optimizer_); }

 private:
  Trainee& trainee_;
  Optimizer& optimizer_;
};

class Trainer {
 public:
  Trainer(Trainee& trainee, const Settings& settings, const Callbacks& callbacks)
      : trainee_(trainee),
        settings_(settings),
        callbacks_(callbacks),
        steps_per_epoch_((trainee.size() + batch() - 1) / batch()),
        fingerprint_(trainee.fingerprint()),
        files_(settings.out, settings.resume, settings.read_only),
        optimizer_(settings.optimizer, trainee.parameters()),
        gradients_(trainee.parameters().size()),
        timeline_(callbacks.trace) {
    if (settings.resume) resume();
    // What cannot be evaluated is not trained for an epoch first.
    if (trainee_.has_dev()) trainee_.try_evaluation();
    if (!trainee_.has_dev() && !settings.resume && !settings.score.empty() && settings.score != "loss") {
      throw ProgramError(
          fmt::format("score: expected examples to evaluate on (--dev), by which '{}' makes an epoch the "
                      "best one, found none",
                      settings.score));
    }
    if (callbacks.on_start) callbacks.on_start();
    files_.begin(settings_, progress_.step + 1, progress_.history);
  }

  TrainingResult run() {
    const Ending ending = run_epochs();
    return {ending, std::move(progress_.history), progress_.best_epoch};
  }

 private:
  std::size_t batch() const { return std::min(static_cast<std::size_t>(settings_.batch), trainee_.size()); }
  uint64_t epochs_done() const { return progress_.history.size(); }
  uint64_t steps_done_in_epoch() const { return progress_.step - epochs_done() * steps_per_epoch_; }

  double rate_of(uint64_t step) const {
    return learning_rate_at(settings_.schedule, settings_.learning_rate, step, steps_per_epoch_,
                            static_cast<uint64_t>(settings_.epochs));
  }

  void resume() {
    load_checkpoint(files_.last(), trainee_.parameters(), optimizer_, progress_, settings_, fingerprint_);
    trainee_.keep_own(optimizer_);
    const uint64_t begin = epochs_done() * steps_per_epoch_;
    if (progress_.step < begin || progress_.step > begin + steps_per_epoch_ ||
        optimizer_.steps() != progress_.step) {
      throw ProgramError(
          fmt::format("{}: expected steps and epochs that go together, found {} steps after {} epochs",
                      files_.last().string(), progress_.step, epochs_done()));
    }
  }

  Ending run_epochs() {
    while (epochs_done() < static_cast<uint64_t>(settings_.epochs)) {
      if (is_patience_over()) return Ending::EarlyStopping;
      if (!run_steps() || !end_epoch()) {
        write_last();
        return Ending::Cancelled;
      }
    }
    return Ending::AllEpochs;
  }

  bool is_patience_over() const {
    return settings_.patience > 0 && progress_.best_epoch > 0 &&
           static_cast<int64_t>(epochs_done()) - progress_.best_epoch >= settings_.patience;
  }

  /// The steps that the epoch still lacks. False where training was cancelled.
  bool run_steps() {
    shuffle();
    seconds_before_ = progress_.epoch_seconds;
    examples_before_ = steps_done_in_epoch() * batch();
    while (steps_done_in_epoch() < steps_per_epoch_) {
      if (!run_step() || is_set(callbacks_.cancel)) return false;
      const auto every = static_cast<uint64_t>(settings_.checkpoint_every_steps);
      if (every > 0 && progress_.step % every == 0) write_last();
    }
    return true;
  }

  /// The order of the examples in this epoch; it follows from seed and epoch alone.
  void shuffle() {
    Random random(settings_.seed, epochs_done());
    order_ = shuffled(trainee_.size(), trainee_.block(), random);
  }

  void choose_batch() {
    const std::size_t begin = steps_done_in_epoch() * batch();
    const std::size_t end = std::min(trainee_.size(), begin + batch());
    chosen_.assign(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                   order_.begin() + static_cast<std::ptrdiff_t>(end));
  }

  /// False where it was interrupted: it has changed nothing then.
  bool run_step() {
    const Clock::time_point begin = Clock::now();
    choose_batch();
    const Timeline::Slice slice = timeline_.step(progress_.step + 1, chosen_.size());
    trainee_.begin_step(progress_.step);
    const std::optional<double> computed = unless_interrupted([&] { return loss_and_gradients(); });
    if (!computed) return false;
    const double loss = *computed;
    check_form(gradients_, trainee_.parameters());
    const double per_example = 1 / static_cast<double>(chosen_.size());
    require_finite(loss, {});
    const double norm =
        update(per_example, [&](std::span<const double> squares) { require_finite(loss, squares); });
    ++progress_.step;
    progress_.epoch_loss += loss;
    progress_.epoch_seconds += seconds_since(begin);
    report_step(loss * per_example, norm);
    return true;
  }

  /// What `compute` gives; nothing where it was cancelled while it did.
  template <class Compute>
  auto unless_interrupted(const Compute& compute) -> std::optional<std::invoke_result_t<Compute>> {
    try {
      return compute();
    } catch (const RunError& error) {
      if (error.fault() != Fault::Interrupted || !is_set(callbacks_.cancel)) throw;
      return std::nullopt;
    }
  }

  double loss_and_gradients() {
    const Timeline::Slice slice = timeline_.slice("loss and gradients");
    return trainee_.loss_and_gradients(chosen_, gradients_);
  }

  double update(double per_example, const CheckSquares& check) {
    const Timeline::Slice slice = timeline_.slice("update");
    const StepSizes sizes{rate_of(progress_.step), per_example, settings_.optimizer.clip};
    return trainee_.update(optimizer_, gradients_, sizes, check);
  }

  void require_finite(double loss, std::span<const double> squares) {
    if (std::isfinite(loss) && std::isfinite(norm_of_squares(squares))) return;
    const std::string what = name_not_finite(loss, squares, trainee_.parameters());
    const char* advice = progress_.step == 0
                             ? "nothing has been learned yet: look for nan and inf in the data, and "
                               "at what the model divides by and takes roots or logarithms of"
                             : "try a lower learning rate or clipping";
    throw ProgramError(fmt::format("training diverged: {} is not finite in step {} (epoch {}){}; {}{}", what,
                                   progress_.step + 1, epochs_done() + 1, say_which_example(), advice,
                                   say_what_is_kept()));
  }

  /// The first of the step of which that holds alone.
  std::string say_which_example() {
    for (const uint32_t& example : chosen_) {
      const double loss = trainee_.loss_and_gradients(std::span(&example, 1), gradients_);
      if (std::isfinite(norm_of_squares(trainee_.squares(gradients_))) && std::isfinite(loss)) continue;
      return fmt::format(", for {}", trainee_.place_of(example));
    }
    return "";
  }

  void require_finite_parameters() const {
    for (const ParameterValues& parameter : trainee_.parameters()) {
      if (std::isfinite(squares_of(parameter.values))) continue;
      throw ProgramError(
          fmt::format("training diverged: '{}' is not finite after step {} (epoch {}); try a lower learning "
                      "rate or clipping{}",
                      parameter.name, progress_.step, epochs_done() + 1, say_what_is_kept()));
    }
  }

  std::string say_what_is_kept() const {
    const bool kept = files_.enabled() && std::filesystem::exists(files_.last());
    return kept ? fmt::format("; {} is as it was written before", files_.last().string()) : "";
  }

  void report_step(double loss, double norm) {
    const std::size_t examples_done = std::min(steps_done_in_epoch() * batch(), trainee_.size());
    const double seconds = progress_.epoch_seconds - seconds_before_;
    const double speed = seconds > 0 ? static_cast<double>(examples_done - examples_before_) / seconds : 0;
    const std::size_t examples_left =
        (static_cast<std::size_t>(settings_.epochs) - epochs_done()) * trainee_.size() - examples_done;
    const StepReport report{.epoch = static_cast<int64_t>(epochs_done()) + 1,
                            .epochs = settings_.epochs,
                            .step = progress_.step,
                            .step_of_epoch = steps_done_in_epoch(),
                            .steps_per_epoch = steps_per_epoch_,
                            .loss = loss,
                            .epoch_loss = progress_.epoch_loss / static_cast<double>(examples_done),
                            .gradient_norm = norm,
                            .learning_rate = rate_of(progress_.step - 1),
                            .examples_per_second = speed,
                            .seconds_left = speed > 0 ? static_cast<double>(examples_left) / speed : 0};
    files_.add_step(report);
    if (callbacks_.on_step) callbacks_.on_step(report);
  }

  /// Evaluates, keeps the best, writes all files. False where training was cancelled before the evaluation
  /// was done.
  bool end_epoch() {
    require_finite_parameters();
    EpochReport report{.epoch = static_cast<int64_t>(epochs_done()) + 1,
                       .steps = progress_.step,
                       .train_loss = progress_.epoch_loss / static_cast<double>(trainee_.size()),
                       .learning_rate = rate_of(progress_.step - 1),
                       .seconds = progress_.epoch_seconds,
                       .examples_per_second = 0,
                       .dev = {},
                       .best = false};
    if (report.seconds > 0)
      report.examples_per_second = static_cast<double>(trainee_.size()) / report.seconds;
    if (trainee_.has_dev()) {
      const Timeline::Slice slice = timeline_.slice("evaluation");
      report.dev = unless_interrupted([&] {
                     return trainee_.evaluate(callbacks_.cancel, settings_.eval_batch);
                   }).value_or(std::nullopt);
      if (!report.dev) return false;
    }
    const double score = report.dev ? trainee_.score_of(*report.dev) : -report.train_loss;
    report.best = progress_.best_epoch == 0 || score > progress_.best_score;
    if (report.best) {
      // Whoever finds a best one also finds one to go on from.
      if (progress_.best_epoch == 0) write_last();
      progress_.best_score = score;
      progress_.best_epoch = report.epoch;
      save_best();
    }
    progress_.epoch_loss = 0;
    progress_.epoch_seconds = 0;
    progress_.history.push_back(report);
    write_last();
    files_.add_epoch(progress_.history);
    if (callbacks_.on_epoch) callbacks_.on_epoch(report);
    return true;
  }

  void save_best() {
    if (settings_.out.empty()) return;
    const Whole whole(trainee_, optimizer_);
    if (files_.enabled()) save_parameters(files_.best(), trainee_.parameters());
  }

  void write_last() {
    if (settings_.out.empty()) return;
    require_finite_parameters();
    const Whole whole(trainee_, optimizer_);
    if (!files_.enabled()) return;
    const Timeline::Slice slice = timeline_.slice("checkpoint");
    save_checkpoint(files_.last(), trainee_.parameters(), optimizer_, progress_, settings_, fingerprint_);
    files_.flush();
  }

  Trainee& trainee_;
  const Settings& settings_;
  const Callbacks& callbacks_;
  uint64_t steps_per_epoch_;
  uint64_t fingerprint_;
  RunFiles files_;
  Optimizer optimizer_;
  Progress progress_;
  std::vector<Gradient> gradients_;
  Timeline timeline_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> chosen_;
  double seconds_before_ = 0;  ///< how long this epoch took before training was resumed
  std::size_t examples_before_ = 0;
};

}  // namespace

TrainingResult run_training(Trainee& trainee, const Settings& settings, const Callbacks& callbacks) {
  check(settings);
  if (trainee.size() == 0) throw ProgramError("expected examples to learn from, found none");
  check_form(trainee.parameters());
  const Cancelling cancelling(trainee, callbacks.cancel);
  return Trainer(trainee, settings, callbacks).run();
}

}  // namespace hiaton::train
