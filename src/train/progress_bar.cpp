#include "train/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace hiaton::train {
namespace {

constexpr std::chrono::milliseconds kRedrawEvery{100};
constexpr int kUsualColumns = 80;
constexpr int kWidestBar = 30;
constexpr int kNarrowestBar = 5;

int columns_of(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

std::string show_speed(double examples_per_second) {
  return fmt::format("{:.{}f} examples/s", examples_per_second, examples_per_second < 10 ? 1 : 0);
}

}  // namespace

std::string show_number(double number, int places) {
  constexpr double kSmallest = 1e-3;  // below it places behind the point show too little
  constexpr double kLargest = 1e6;
  if (std::isnan(number)) return "nan";  // its sign says nothing
  const double size = std::abs(number);
  if (size >= kLargest || (size < kSmallest && size != 0)) return fmt::format("{:.4g}", number);
  return fmt::format("{:.{}f}", number, places);
}

std::string show_loss(double loss) {
  return show_number(loss, std::abs(loss) < 1 ? 4 : 3);
}

std::string show_metric(const Metric& metric) {
  return metric.is_share ? fmt::format("{} {:.1f}%", metric.name, 100 * metric.mean)
                         : fmt::format("{} {:.4g}", metric.name, metric.mean);
}

std::string show_time(double seconds) {
  const auto whole = static_cast<int64_t>(std::clamp(std::ceil(seconds), 0.0, 3.6e6));
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  if (whole < kHour) return fmt::format("{}:{:02}", whole / kMinute, whole % kMinute);
  return fmt::format("{}:{:02}:{:02}", whole / kHour, whole % kHour / kMinute, whole % kMinute);
}

std::string show_progress(const StepReport& report, int columns) {
  const double share =
      static_cast<double>(report.step_of_epoch) / static_cast<double>(report.steps_per_epoch);
  const std::string before = fmt::format("epoch {}/{} ", report.epoch, report.epochs);
  const std::string after =
      fmt::format(" {:3.0f}%  loss {}  {}  {} left", 100 * share, show_loss(report.epoch_loss),
                  show_speed(report.examples_per_second), show_time(report.seconds_left));
  const int room = columns - 1 - static_cast<int>(before.size() + after.size()) - 2;
  std::string bar;
  if (room >= kNarrowestBar) {
    const int width = std::min(room, kWidestBar);
    const auto done = static_cast<std::size_t>(std::lround(share * width));
    bar = fmt::format("[{}{}]", std::string(done, '#'),
                      std::string(static_cast<std::size_t>(width) - done, '-'));
  }
  return (before + bar + after).substr(0, static_cast<std::size_t>(std::max(columns - 1, 0)));
}

std::string show_epoch(const EpochReport& report, int64_t epochs) {
  std::string text = fmt::format("epoch {}/{}  loss {}", report.epoch, epochs, show_loss(report.train_loss));
  if (report.dev) {
    text += fmt::format("  dev loss {}", show_loss(report.dev->loss));
    if (report.dev->roots > 0) text += fmt::format("  root {:.1f}%", 100 * report.dev->root_accuracy);
    if (report.dev->is_of_trees) text += fmt::format("  all {:.1f}%", 100 * report.dev->all_accuracy);
    for (const Metric& metric : report.dev->metrics) text += "  " + show_metric(metric);
  }
  return text + fmt::format("  {}{}", show_speed(report.examples_per_second), report.best ? "  best" : "");
}

ProgressBar::ProgressBar(std::FILE* stream) : ProgressBar(stream, ::isatty(::fileno(stream)) != 0) {}

void ProgressBar::put(const std::string& text) {
  std::fputs(text.c_str(), stream_);
  std::fflush(stream_);
}

void ProgressBar::show(const StepReport& report) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_due =
      !is_drawn_ || now - last_drawn_ >= kRedrawEvery || report.step_of_epoch == report.steps_per_epoch;
  if (!is_terminal_ || !is_due) return;
  put("\r\x1b[K" + show_progress(report, columns_of(stream_)));
  is_drawn_ = true;
  last_drawn_ = now;
}

void ProgressBar::show(const EpochReport& report, int64_t epochs) {
  clear();
  put(show_epoch(report, epochs) + "\n");
}

void ProgressBar::clear() {
  if (!is_drawn_) return;
  put("\r\x1b[K");
  is_drawn_ = false;
}

}  // namespace hiaton::train
