#include "bench/report/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/report/number_texts.h"

namespace vitrine::bench {
namespace {

// From values to a range of pixels, by logarithms.
struct Axis {
  double low;  // powers of ten
  double high;
  double begin;  // pixels
  double end;

  double at(double value) const {
    return begin + (std::log10(value) - low) / (high - low) * (end - begin);
  }
};

Axis axis_of(double least, double most, double begin, double end, bool whole_decades) {
  double low = std::log10(least);
  double high = std::log10(most);
  if (whole_decades) {
    low = std::floor(low + 1e-9);
    high = std::ceil(high - 1e-9);
  }
  if (high - low < 0.5) high = low + 1;
  return {low, high, begin, end};
}

// Powers of ten within the axis, at most about six.
std::vector<double> ticks_of(const Axis& axis) {
  const int first = static_cast<int>(std::ceil(axis.low - 1e-9));
  const int last = static_cast<int>(std::floor(axis.high + 1e-9));
  const int step = std::max(1, (last - first + 5) / 6);
  std::vector<double> ticks;
  for (int power = first; power <= last; power += step) ticks.push_back(std::pow(10.0, power));
  return ticks;
}

// "10 us", "1 k": one digit is enough for a power of ten.
std::string tick_text(double value, bool is_time) {
  std::string text = is_time ? time_text(value) : count_text(value);
  const size_t unit = text.find(' ');
  const std::string name = unit == std::string::npos ? "" : text.substr(unit + 1);
  std::string number = text.substr(0, unit);
  if (number.find('.') != std::string::npos) {
    while (number.back() == '0') number.pop_back();
    if (number.back() == '.') number.pop_back();
  }
  return name.empty() ? number : number + (is_time ? " " : "") + name;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

namespace {

constexpr double kCurvesWidth = 290;
constexpr double kCurvesHeight = 178;
constexpr size_t kTitleLetters = 42;  // that fit
constexpr const char* kNarrowTitle = " textLength=\"286\" lengthAdjust=\"spacingAndGlyphs\"";

struct Axes {
  Axis x;
  Axis y;
};

// Unset without points.
std::optional<Axes> axes_of(const std::vector<Curve>& curves) {
  PlotPoint least{INFINITY, INFINITY};
  PlotPoint most;
  for (const Curve& curve : curves) {
    for (const PlotPoint& point : curve.points) {
      least = {std::min(least.x, point.x), std::min(least.y, point.y)};
      most = {std::max(most.x, point.x), std::max(most.y, point.y)};
    }
  }
  if (most.x <= 0 || most.y <= 0) return std::nullopt;
  return Axes{axis_of(least.x, most.x, 48, kCurvesWidth - 14, false),
              axis_of(least.y, most.y, kCurvesHeight - 34, 24, true)};
}

std::string svg_axes(const Axes& axes, const std::string& x_unit) {
  const auto& [x, y] = axes;
  std::string svg;
  for (const double tick : ticks_of(y)) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>"
        "<text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
        x.begin, y.at(tick), x.end, x.begin - 5, y.at(tick) + 3.5, tick_text(tick, true));
  }
  for (const double tick : ticks_of(x)) {
    svg += fmt::format("<text class=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x.at(tick),
                       kCurvesHeight - 20, tick_text(tick, false));
  }
  return svg + fmt::format("<text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x.end,
                           kCurvesHeight - 6, escaped(x_unit));
}

std::string svg_curve(const Axes& axes, const Curve& curve, const std::string& x_unit) {
  std::string path;
  std::string dots;
  for (const PlotPoint& point : curve.points) {
    const double x = axes.x.at(point.x);
    const double y = axes.y.at(point.y);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x, y);
    dots += fmt::format(
        "<circle class=\"v-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\">"
        "<title>{}, {} {}: {}</title></circle>",
        curve.series, x, y, curve.series, count_text(point.x), escaped(x_unit), time_text(point.y));
  }
  return fmt::format("<path class=\"line v-{}\" d=\"{}\"/>{}", curve.series, path, dots);
}

}  // namespace

std::string svg_curves(const CurvePlot& plot) {
  const std::optional<Axes> axes = axes_of(plot.curves);
  if (!axes) return "";
  std::string svg = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}: times by size\">"
      "<text class=\"title\" x=\"2\" y=\"13\"{}>{}</text>",
      kCurvesWidth, kCurvesHeight, escaped(plot.title),
      plot.title.size() > kTitleLetters ? kNarrowTitle : "", escaped(plot.title));
  svg += svg_axes(*axes, plot.x_unit);
  const double crossing = axes->x.at(plot.crossing.value_or(0));
  if (crossing > axes->x.begin) {
    svg += fmt::format(
        "<path class=\"crossing\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\">"
        "<title>delegation pays from {3} {4}</title></path>",
        crossing, axes->y.end, axes->y.begin, count_text(*plot.crossing), escaped(plot.x_unit));
  }
  for (const Curve& curve : plot.curves) svg += svg_curve(*axes, curve, plot.x_unit);
  return svg + "</svg>";
}

std::string svg_dots(const std::vector<DotRow>& rows) {
  constexpr double kWidth = 1200;
  constexpr double kRow = 26;
  constexpr double kLabels = 280;
  double least = INFINITY;
  double most = 0;
  for (const DotRow& row : rows) {
    for (const Dot& dot : row.dots) {
      least = std::min(least, dot.ns);
      most = std::max(most, dot.ns);
    }
  }
  if (most <= 0) return "";
  const double height = kRow * static_cast<double>(rows.size()) + 30;
  const Axis x = axis_of(least, most, kLabels, kWidth - 20, true);
  std::string svg = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"times of models\">",
      kWidth, height);
  for (const double tick : ticks_of(x)) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} 4V{1:.1f}\"/>"
        "<text class=\"middle\" x=\"{0:.1f}\" y=\"{2:.1f}\">{3}</text>",
        x.at(tick), height - 24, height - 8, tick_text(tick, true));
  }
  double y = kRow / 2 + 4;
  for (const DotRow& row : rows) {
    double first = x.end;
    double last = x.begin;
    std::string dots;
    for (const Dot& dot : row.dots) {
      first = std::min(first, x.at(dot.ns));
      last = std::max(last, x.at(dot.ns));
      dots += fmt::format(
          "<circle class=\"v-{}{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\">"
          "<title>{}</title></circle>",
          dot.series, dot.is_hollow ? " hollow" : "", x.at(dot.ns), y, escaped(dot.text));
    }
    svg += fmt::format(
        "<text class=\"end label\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>{}",
        kLabels - 14, y + 4.5, escaped(row.label), first, y, last, dots);
    y += kRow;
  }
  return svg + "</svg>";
}

}  // namespace vitrine::bench
