#include "train/run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file_bytes.h"
#include "hiaton/error.h"
#include "train/json_records.h"

namespace hiaton::train {

RunFiles::RunFiles(const std::filesystem::path& directory, bool resume, bool read_only)
    : directory_(directory), read_only_(read_only) {
  if (!enabled()) {
    if (resume && directory_.empty())
      throw ProgramError("expected a directory to resume from, found none in the settings");
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) throw ProgramError(fmt::format("cannot make '{}': {}", directory_.string(), error.message()));
  if (!resume && (std::filesystem::exists(last()) || std::filesystem::exists(best()))) {
    throw ProgramError(
        fmt::format("expected a directory without checkpoints, found some in '{}'; resume that training, "
                    "or choose another directory",
                    directory_.string()));
  }
  lock();
}

RunFiles::~RunFiles() {
  if (lock_ >= 0) ::close(lock_);
}

void RunFiles::lock() {
  lock_ = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw ProgramError(fmt::format("another training run is writing to '{}'", directory_.string()));
  }
}

void RunFiles::begin(const Settings& settings, uint64_t first_step, std::span<const EpochReport> history) {
  if (!enabled()) return;
  save_settings(directory_ / "settings.json", settings);
  if (!history.empty()) write_history(history);
  events_.emplace(directory_, first_step);
}

void RunFiles::add_step(const StepReport& report) {
  if (!events_) return;
  events_->add_scalar("loss/step", report.step, report.loss);
  events_->add_scalar("gradient_norm", report.step, report.gradient_norm);
}

void RunFiles::add_events(const EpochReport& report) {
  events_->add_scalar("loss/train", report.steps, report.train_loss);
  events_->add_scalar("learning_rate", report.steps, report.learning_rate);
  events_->add_scalar("examples_per_second", report.steps, report.examples_per_second);
  if (report.dev) {
    events_->add_scalar("loss/dev", report.steps, report.dev->loss);
    if (report.dev->is_of_trees) {
      events_->add_scalar("accuracy/root", report.steps, report.dev->root_accuracy);
      events_->add_scalar("accuracy/all", report.steps, report.dev->all_accuracy);
    }
    for (const Metric& metric : report.dev->metrics)
      events_->add_scalar("metrics/" + metric.name, report.steps, metric.mean);
  }
}

void RunFiles::add_epoch(std::span<const EpochReport> history) {
  if (!enabled()) return;
  if (events_ && !history.empty()) add_events(history.back());
  flush();
  write_history(history);
}

void RunFiles::write_history(std::span<const EpochReport> history) {
  std::string log;
  for (const EpochReport& report : history) log += to_json(report).dump() + "\n";
  write_atomically(directory_ / "log.jsonl", {log});
  write_atomically(directory_ / "curve.svg", {draw_curve(history)});
}

void RunFiles::flush() {
  if (events_) events_->flush();
}

}  // namespace hiaton::train
