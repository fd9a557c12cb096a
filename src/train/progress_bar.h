// Progress of a training run, for a person at a terminal or for a log.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "hiaton/train.h"

namespace hiaton::train {

/// Writes to a stream: on a terminal one line that is drawn anew a few times a second, and one that stays for
/// each epoch; elsewhere only the latter. What cannot be written is dropped: training goes on.
class ProgressBar {
 public:
  /// Finds out whether `stream` is a terminal.
  explicit ProgressBar(std::FILE* stream);
  ProgressBar(std::FILE* stream, bool is_terminal) : stream_(stream), is_terminal_(is_terminal) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const StepReport& report);
  void show(const EpochReport& report, int64_t epochs);
  /// Removes the line that is drawn anew, so that other text can follow.
  void clear();

 private:
  void put(const std::string& text);

  std::FILE* stream_;
  bool is_terminal_;
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point last_drawn_{};
};

/// "epoch 3/10 [######----] 61%  loss 12.345  812 examples/s  1:23 left", at most `columns` wide.
std::string show_progress(const StepReport& report, int columns);
/// "epoch 3/10  loss 12.345  dev loss 13.100  root 41.2%  all 79.8%  812 examples/s  best".
std::string show_epoch(const EpochReport& report, int64_t epochs);
/// "0.1234", "12.345", "1.234e+30".
std::string show_loss(double loss);
/// The number with so many places behind the point, or with four digits where it is too small or too large.
std::string show_number(double number, int places);
/// "accuracy 93.1%", "error 0.1234".
std::string show_metric(const Metric& metric);
/// "0:07", "12:34", "1:02:03".
std::string show_time(double seconds);

}  // namespace hiaton::train
