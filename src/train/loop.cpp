// The training loop.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "hiaton/error.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/gradient.h"
#include "train/optimizer.h"
#include "train/random.h"
#include "train/run_files.h"
#include "train/timeline.h"
#include "train/tree_place.h"
#include "train/update_loops.h"

namespace hiaton::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Trainer {
 public:
  Trainer(Learner& learner, std::span<const Tree> train, std::span<const Tree> dev, const Settings& settings,
          const Callbacks& callbacks)
      : learner_(learner),
        train_(train),
        dev_(dev),
        settings_(settings),
        callbacks_(callbacks),
        steps_per_epoch_((train.size() + batch() - 1) / batch()),
        fingerprint_(fingerprint(train) ^ mix_bits(fingerprint(dev))),
        files_(settings.out, settings.resume, settings.read_only),
        optimizer_(settings.optimizer, learner.parameters()),
        gradients_(learner.parameters().size()),
        timeline_(callbacks.trace) {
    if (settings.resume) resume();
    try_evaluation();
    if (callbacks.on_start) callbacks.on_start();
    files_.begin(settings_, progress_.step + 1, progress_.history);
  }

  TrainingResult run() {
    const Ending ending = run_epochs();
    return {ending, std::move(progress_.history), progress_.best_epoch};
  }

 private:
  std::size_t batch() const { return std::min(static_cast<std::size_t>(settings_.batch), train_.size()); }
  uint64_t epochs_done() const { return progress_.history.size(); }
  uint64_t steps_done_in_epoch() const { return progress_.step - epochs_done() * steps_per_epoch_; }

  double rate_of(uint64_t step) const {
    return learning_rate_at(settings_.schedule, settings_.learning_rate, step, steps_per_epoch_,
                            static_cast<uint64_t>(settings_.epochs));
  }

  void resume() {
    load_checkpoint(files_.last(), learner_.parameters(), optimizer_, progress_, settings_, fingerprint_);
    const uint64_t begin = epochs_done() * steps_per_epoch_;
    if (progress_.step < begin || progress_.step > begin + steps_per_epoch_ ||
        optimizer_.steps() != progress_.step) {
      throw ProgramError(
          fmt::format("{}: expected steps and epochs that go together, found {} steps after {} epochs",
                      files_.last().string(), progress_.step, epochs_done()));
    }
  }

  /// What cannot be evaluated is not trained for an epoch first.
  void try_evaluation() {
    if (!dev_.empty()) evaluate(learner_, dev_.first(1));
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
    trees_before_ = steps_done_in_epoch() * batch();
    while (steps_done_in_epoch() < steps_per_epoch_) {
      run_step();
      if (is_set(callbacks_.cancel)) return false;
      const auto every = static_cast<uint64_t>(settings_.checkpoint_every_steps);
      if (every > 0 && progress_.step % every == 0) write_last();
    }
    return true;
  }

  /// The order of the trees in this epoch; it follows from seed and epoch alone.
  void shuffle() {
    order_.resize(train_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    Random random(settings_.seed, epochs_done());
    for (std::size_t i = order_.size(); i > 1; --i) {
      std::swap(order_[i - 1], order_[random.below(static_cast<uint32_t>(i))]);
    }
  }

  void choose_batch() {
    const std::size_t begin = steps_done_in_epoch() * batch();
    const std::size_t end = std::min(train_.size(), begin + batch());
    chosen_.clear();
    for (std::size_t i = begin; i < end; ++i) chosen_.push_back(&train_[order_[i]]);
  }

  void run_step() {
    const Clock::time_point begin = Clock::now();
    choose_batch();
    const Timeline::Slice slice = timeline_.step(progress_.step + 1, chosen_.size());
    learner_.begin_step(progress_.step);
    const double loss = loss_and_gradients();
    check_form(gradients_, learner_.parameters());
    const double per_tree = 1 / static_cast<double>(chosen_.size());
    const double norm = norm_of(gradients_, learner_.parameters()) * per_tree;
    require_finite(loss, norm);
    update(per_tree * clip_factor(norm, settings_.optimizer.clip));
    ++progress_.step;
    progress_.epoch_loss += loss;
    progress_.epoch_seconds += seconds_since(begin);
    report_step(loss * per_tree, norm);
  }

  double loss_and_gradients() {
    const Timeline::Slice slice = timeline_.slice("loss and gradients");
    return learner_.loss_and_gradients(chosen_, gradients_);
  }

  void update(double factor) {
    const Timeline::Slice slice = timeline_.slice("update");
    optimizer_.step(learner_.parameters(), gradients_, rate_of(progress_.step), factor, learner_.pool());
  }

  void require_finite(double loss, double norm) {
    if (std::isfinite(loss) && std::isfinite(norm)) return;
    const std::string what = name_not_finite(loss, gradients_, learner_.parameters());
    const char* advice = progress_.step == 0
                             ? "nothing has been learned yet, so it is the model: look at what it "
                               "divides by and takes roots or logarithms of"
                             : "try a lower learning rate or clipping";
    throw ProgramError(fmt::format("training diverged: {} is not finite in step {} (epoch {}){}; {}{}", what,
                                   progress_.step + 1, epochs_done() + 1, say_which_tree(), advice,
                                   say_what_is_kept()));
  }

  /// The first of the step of which that holds alone.
  std::string say_which_tree() {
    for (const Tree* const& tree : chosen_) {
      const double loss = learner_.loss_and_gradients(std::span(&tree, 1), gradients_);
      if (std::isfinite(loss) && std::isfinite(norm_of(gradients_, learner_.parameters()))) continue;
      return fmt::format(", for {}", place_of(*tree));
    }
    return "";
  }

  void require_finite_parameters() const {
    for (const ParameterValues& parameter : learner_.parameters()) {
      if (std::isfinite(sum_of_squares(parameter.values.data(), parameter.values.size()))) continue;
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
    const std::size_t trees_done = std::min(steps_done_in_epoch() * batch(), train_.size());
    const double seconds = progress_.epoch_seconds - seconds_before_;
    const double speed = seconds > 0 ? static_cast<double>(trees_done - trees_before_) / seconds : 0;
    const std::size_t trees_left =
        (static_cast<std::size_t>(settings_.epochs) - epochs_done()) * train_.size() - trees_done;
    const StepReport report{.epoch = static_cast<int64_t>(epochs_done()) + 1,
                            .epochs = settings_.epochs,
                            .step = progress_.step,
                            .step_of_epoch = steps_done_in_epoch(),
                            .steps_per_epoch = steps_per_epoch_,
                            .loss = loss,
                            .epoch_loss = progress_.epoch_loss / static_cast<double>(trees_done),
                            .gradient_norm = norm,
                            .learning_rate = rate_of(progress_.step - 1),
                            .trees_per_second = speed,
                            .seconds_left = speed > 0 ? static_cast<double>(trees_left) / speed : 0};
    files_.add_step(report);
    if (callbacks_.on_step) callbacks_.on_step(report);
  }

  /// Evaluates, keeps the best, writes all files. False where training was cancelled before the evaluation
  /// was done.
  bool end_epoch() {
    require_finite_parameters();
    EpochReport report{.epoch = static_cast<int64_t>(epochs_done()) + 1,
                       .steps = progress_.step,
                       .train_loss = progress_.epoch_loss / static_cast<double>(train_.size()),
                       .learning_rate = rate_of(progress_.step - 1),
                       .seconds = progress_.epoch_seconds,
                       .trees_per_second = 0,
                       .dev = {},
                       .best = false};
    if (report.seconds > 0) report.trees_per_second = static_cast<double>(train_.size()) / report.seconds;
    if (!dev_.empty()) {
      const Timeline::Slice slice = timeline_.slice("evaluation");
      report.dev = evaluate_unless(callbacks_.cancel, learner_, dev_, settings_.eval_batch);
      if (!report.dev) return false;
    }
    const double score = score_of(report);
    report.best = progress_.best_epoch == 0 || score > progress_.best_score;
    if (report.best) {
      // Whoever finds a best one also finds one to go on from.
      if (progress_.best_epoch == 0) write_last();
      progress_.best_score = score;
      progress_.best_epoch = report.epoch;
      if (files_.enabled()) save_parameters(files_.best(), learner_.parameters());
    }
    progress_.epoch_loss = 0;
    progress_.epoch_seconds = 0;
    progress_.history.push_back(report);
    write_last();
    files_.add_epoch(progress_.history);
    if (callbacks_.on_epoch) callbacks_.on_epoch(report);
    return true;
  }

  double score_of(const EpochReport& report) const {
    if (!report.dev) return -report.train_loss;
    const bool by_root = settings_.score == ScoreKind::Root;
    if ((by_root ? report.dev->roots : report.dev->nodes) == 0) {
      throw ProgramError(
          fmt::format("expected labels in the dev set at {} that the model predicts, found none",
                      by_root ? "roots" : "nodes"));
    }
    return by_root ? report.dev->root_accuracy : report.dev->all_accuracy;
  }

  void write_last() {
    if (!files_.enabled()) return;
    const Timeline::Slice slice = timeline_.slice("checkpoint");
    require_finite_parameters();
    save_checkpoint(files_.last(), learner_.parameters(), optimizer_, progress_, settings_, fingerprint_);
    files_.flush();
  }

  Learner& learner_;
  std::span<const Tree> train_;
  std::span<const Tree> dev_;
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
  std::vector<const Tree*> chosen_;
  double seconds_before_ = 0;  ///< of this epoch, before training was resumed
  std::size_t trees_before_ = 0;
};

}  // namespace

void Learner::share(SharedBatches& /*sharing*/) {
  throw ProgramError("expected a learner that several processes can share, found one that works alone");
}

TrainingResult train(Learner& learner, std::span<const Tree> train, std::span<const Tree> dev,
                     const Settings& settings, const Callbacks& callbacks) {
  check(settings);
  if (train.empty()) throw ProgramError("expected trees to learn from, found none");
  check_form(learner.parameters());
  return Trainer(learner, train, dev, settings, callbacks).run();
}

}  // namespace hiaton::train
