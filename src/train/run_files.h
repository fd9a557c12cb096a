// The directory of a training run, and the learning curve that is drawn there.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/train.h"
#include "train/tensorboard.h"

namespace hiaton::train {

/// The learning curve as an SVG document: loss over the epochs, and, where there was a dev set, accuracy
/// beside it.
std::string draw_curve(std::span<const EpochReport> history);

/// Writes what a run leaves behind; where the directory is empty text, or another process writes, nothing.
/// Holds a lock on the directory, so that no other run writes there. Its functions throw ProgramError where a
/// file cannot be written.
class RunFiles {
 public:
  /// Makes the directory. Throws ProgramError where it holds a checkpoint and `resume` is not set.
  RunFiles(const std::filesystem::path& directory, bool resume, bool read_only);
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;
  ~RunFiles();

  bool enabled() const { return !directory_.empty() && !read_only_; }
  std::filesystem::path best() const { return directory_ / "best.safetensors"; }
  std::filesystem::path last() const { return directory_ / "last.safetensors"; }

  /// Begins an event file, from that step on, and writes the settings; also log and curve of the epochs
  /// before: what ended that training may have come before them.
  void begin(const Settings& settings, uint64_t first_step, std::span<const EpochReport> history);
  void add_step(const StepReport& report);
  /// Events of the last epoch, and log and curve of all.
  void add_epoch(std::span<const EpochReport> history);
  void flush();

 private:
  void write_history(std::span<const EpochReport> history);
  void lock();
  void add_events(const EpochReport& report);

  std::filesystem::path directory_;
  bool read_only_;
  int lock_ = -1;
  std::optional<EventWriter> events_;
};

}  // namespace hiaton::train
