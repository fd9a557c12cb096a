#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "train/run_files.h"

namespace hiaton::train {
namespace {

constexpr double kPanelWidth = 460;
constexpr double kHeight = 360;
constexpr double kLeft = 64;
constexpr double kRight = 20;
constexpr double kTop = 44;
constexpr double kBottom = 52;
constexpr int kTicks = 5;
constexpr std::size_t kMostMarkers = 40;
constexpr double kMostDrawn = 1e300;  ///< differences of larger values may be infinite

struct Point {
  double x;
  double y;
};

struct Curve {
  std::string name;
  std::string color;
  std::vector<Point> points;  ///< points with values below kMostDrawn
};

struct Panel {
  std::string title;
  std::vector<Curve> lines;
  bool is_share = false;  ///< y is a share, shown in percent
};

/// A range of values with evenly spaced ticks at round numbers.
struct Axis {
  double low = 0;
  double high = 1;
  double step = 1;

  double position(double value) const { return (value - low) / (high - low); }
};

/// 1, 2 or 5 times a power of ten, so that about `kTicks` fit into the span.
double round_step(double span, double least) {
  const double raw = std::max(span / kTicks, least);
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * 0.999) return factor * power;
  }
  return 10 * power;
}

Axis axis_of(double low, double high, double least_step) {
  // Values that are close to each other, as seen from zero, share the ticks of their size: else a tick would
  // be no larger than the rounding of a value, and the next one the same number.
  const double size = std::max(std::abs(low), std::abs(high));
  const double step = round_step(high - low, std::max(least_step, size * 1e-6));
  Axis axis{std::floor(low / step) * step, std::ceil(high / step) * step, step};
  if (axis.high <= axis.low) axis.high = axis.low + step;
  return axis;
}

Axis value_axis(const Panel& panel) {
  constexpr double kLeastStep = 1e-6;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Curve& line : panel.lines) {
    for (const Point& point : line.points) {
      low = std::min(low, point.y);
      high = std::max(high, point.y);
    }
  }
  if (low > high) low = high = 0;
  Axis axis = axis_of(low, high, kLeastStep);
  if (panel.is_share) axis = {std::max(axis.low, 0.0), std::min(axis.high, 1.0), axis.step};
  if (axis.high <= axis.low) axis.low = axis.high - axis.step;
  return axis;
}

class Drawing {
 public:
  explicit Drawing(double width) : width_(width) {}

  void add(const Panel& panel, double left, const Axis& epochs) {
    const Axis values = value_axis(panel);
    const double x0 = left + kLeft;
    const double x1 = left + kPanelWidth - kRight;
    const double y0 = kHeight - kBottom;
    const double y1 = kTop;
    const auto x = [&](double value) { return x0 + epochs.position(value) * (x1 - x0); };
    const auto y = [&](double value) { return y0 + values.position(value) * (y1 - y0); };
    draw_axes(panel, epochs, values, {x0, y0}, {x1, y1});
    for (const Curve& line : panel.lines) {
      std::vector<Point> places;
      for (const Point& point : line.points) places.push_back({x(point.x), y(point.y)});
      draw_line(line, places);
    }
    draw_legend(panel, x0, x1);
  }

  std::string finish() const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
        "height=\"{1:g}\" "
        "font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
        "<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"white\"/>\n{2}</svg>\n",
        width_, kHeight, body_);
  }

 private:
  void draw_axes(const Panel& panel, const Axis& epochs, const Axis& values, Point low, Point high) {
    for (int i = 0; i <= 4 * kTicks; ++i) {
      const double value = values.low + i * values.step;
      if (value > values.high + values.step * 1e-6) break;
      const double at = low.y + values.position(value) * (high.y - low.y);
      stroke({low.x, at}, {high.x, at}, "#e4e4e4");
      text({low.x - 8, at + 4}, "end", show(value, panel.is_share, values.step));
    }
    for (double epoch = std::ceil(epochs.low / epochs.step) * epochs.step; epoch <= epochs.high + 1e-6;
         epoch += epochs.step) {
      const double at = low.x + epochs.position(epoch) * (high.x - low.x);
      stroke({at, low.y}, {at, low.y + 5}, "#333");
      text({at, low.y + 19}, "middle", fmt::format("{:g}", epoch));
    }
    stroke(low, {high.x, low.y}, "#333");
    stroke(low, {low.x, high.y}, "#333");
    text({(low.x + high.x) / 2, kHeight - 12}, "middle", "epoch");
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"20\" font-weight=\"bold\">{}</text>\n", low.x, panel.title);
  }

  void draw_line(const Curve& line, const std::vector<Point>& places) {
    std::string points;
    for (const Point& place : places) points += fmt::format("{:.1f},{:.1f} ", place.x, place.y);
    body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points,
                         line.color);
    if (places.size() > kMostMarkers) return;
    for (const Point& place : places) {
      body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", place.x, place.y,
                           line.color);
    }
  }

  /// Names with the last value of each line, from the right.
  void draw_legend(const Panel& panel, double left, double right) {
    double x = left + 80;
    const double step = (right - x) / static_cast<double>(std::max<std::size_t>(panel.lines.size(), 1));
    for (const Curve& line : panel.lines) {
      body_ += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"16\" x2=\"{1:.1f}\" y2=\"16\" stroke=\"{2}\" stroke-width=\"3\"/>\n", x,
          x + 18, line.color);
      const double last = line.points.empty() ? 0 : line.points.back().y;
      text({x + 24, 20}, "start",
           line.points.empty() ? line.name
                               : fmt::format("{} {}", line.name, show(last, panel.is_share, 0.001)));
      x += step;
    }
  }

  static std::string show(double value, bool is_share, double step) {
    const double shown = is_share ? 100 * value : value;
    const double shown_step = is_share ? 100 * step : step;
    const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(shown_step) - 1e-9)), 0, 6);
    if (std::abs(shown) >= 1e6) return fmt::format("{:g}", shown);
    return fmt::format("{:.{}f}{}", shown, digits, is_share ? "%" : "");
  }

  void stroke(Point from, Point to, std::string_view color) {
    body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                         from.x, from.y, to.x, to.y, color);
  }

  void text(Point at, std::string_view anchor, const std::string& words) {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at.x, at.y, anchor,
                         words);
  }

  double width_;
  std::string body_;
};

template <typename ValueOf>
Curve line_of(std::string name, std::string color, std::span<const EpochReport> history,
              const ValueOf& value_of) {
  Curve line{std::move(name), std::move(color), {}};
  for (const EpochReport& report : history) {
    const double value = value_of(report);
    if (std::abs(value) < kMostDrawn) line.points.push_back({static_cast<double>(report.epoch), value});
  }
  return line;
}

double dev_value(const EpochReport& report, double Evaluation::*member) {
  return report.dev ? (*report.dev).*member : std::numeric_limits<double>::quiet_NaN();
}

/// Draws the metrics that are shares, as many as there are colors.
std::vector<Curve> lines_of_metrics(std::span<const EpochReport> history,
                                    std::initializer_list<const char*> colors) {
  std::vector<Curve> lines;
  const std::vector<Metric>& metrics = history.back().dev->metrics;
  const auto* color = colors.begin();
  for (std::size_t i = 0; i < metrics.size() && color != colors.end(); ++i) {
    if (!metrics[i].is_share) continue;
    lines.push_back(line_of(metrics[i].name, *color++, history, [i](const EpochReport& report) {
      return report.dev && i < report.dev->metrics.size() ? report.dev->metrics[i].mean
                                                          : std::numeric_limits<double>::quiet_NaN();
    }));
  }
  return lines;
}

}  // namespace

std::string draw_curve(std::span<const EpochReport> history) {
  constexpr const char* kBlue = "#1f77b4";
  constexpr const char* kOrange = "#ff7f0e";
  constexpr const char* kGreen = "#2ca02c";
  const bool has_dev =
      std::any_of(history.begin(), history.end(), [](const auto& report) { return report.dev; });
  Panel loss{"loss", {}, false};
  loss.lines.push_back(
      line_of("train", kBlue, history, [](const auto& report) { return report.train_loss; }));
  Panel accuracy{"accuracy", {}, true};
  if (has_dev) {
    const auto dev_line = [&](std::string name, std::string color, double Evaluation::*member) {
      return line_of(std::move(name), std::move(color), history,
                     [member](const auto& report) { return dev_value(report, member); });
    };
    loss.lines.push_back(dev_line("dev", kOrange, &Evaluation::loss));
    if (history.back().dev && !history.back().dev->is_of_trees) {
      accuracy.lines = lines_of_metrics(history, {kOrange, kGreen, kBlue});
    } else {
      accuracy.lines.push_back(dev_line("root", kOrange, &Evaluation::root_accuracy));
      accuracy.lines.push_back(dev_line("all nodes", kGreen, &Evaluation::all_accuracy));
    }
  }
  const auto last = history.empty() ? 1.0 : static_cast<double>(history.back().epoch);
  Axis epochs{1, std::max(last, 2.0), 1};
  epochs.step = round_step(epochs.high - epochs.low, 1);
  const bool has_shares = !accuracy.lines.empty();
  Drawing drawing(has_shares ? 2 * kPanelWidth : kPanelWidth);
  drawing.add(loss, 0, epochs);
  if (has_shares) drawing.add(accuracy, kPanelWidth, epochs);
  return drawing.finish();
}

}  // namespace hiaton::train
