#include "bench/report/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/report/figures.h"

namespace vitrine::bench {
namespace {

// From values to a range of pixels, by logarithms.
struct Scale {
  double low;  // powers of ten
  double high;
  double begin;  // pixels
  double end;

  double at(double value) const {
    return begin + (std::log10(value) - low) / (high - low) * (end - begin);
  }
};

Scale scale_of(double least, double most, double begin, double end, bool whole_decades) {
  double low = std::log10(least);
  double high = std::log10(most);
  if (whole_decades) {
    low = std::floor(low + 1e-9);
    high = std::ceil(high - 1e-9);
  }
  if (high - low < 0.5) high = low + 1;
  return {low, high, begin, end};
}

// Powers of ten within the scale, at most about six.
std::vector<double> ticks_of(const Scale& scale) {
  const int first = static_cast<int>(std::ceil(scale.low - 1e-9));
  const int last = static_cast<int>(std::floor(scale.high + 1e-9));
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

std::string svg_curves(const CurvePlot& plot) {
  constexpr double kWidth = 290;
  constexpr double kHeight = 178;
  double least_x = INFINITY, most_x = 0, least_y = INFINITY, most_y = 0;
  for (const Curve& curve : plot.curves) {
    for (const PlotPoint& point : curve.points) {
      least_x = std::min(least_x, point.x);
      most_x = std::max(most_x, point.x);
      least_y = std::min(least_y, point.y);
      most_y = std::max(most_y, point.y);
    }
  }
  if (most_x <= 0 || most_y <= 0) return "";
  const Scale x = scale_of(least_x, most_x, 48, kWidth - 10, false);
  const Scale y = scale_of(least_y, most_y, kHeight - 34, 24, true);
  std::string svg = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}: times by size\">"
      "<text class=\"title\" x=\"2\" y=\"13\">{}</text>",
      kWidth, kHeight, escaped(plot.title), escaped(plot.title));
  for (const double tick : ticks_of(y)) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>"
        "<text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
        x.begin, y.at(tick), x.end, x.begin - 5, y.at(tick) + 3.5, tick_text(tick, true));
  }
  for (const double tick : ticks_of(x)) {
    svg += fmt::format("<text class=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x.at(tick),
                       kHeight - 20, tick_text(tick, false));
  }
  svg += fmt::format("<text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x.end, kHeight - 6,
                     escaped(plot.x_unit));
  if (plot.crossing && *plot.crossing > least_x) {
    svg += fmt::format(
        "<path class=\"crossing\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\">"
        "<title>delegation pays from {3} {4}</title></path>",
        x.at(*plot.crossing), y.end, y.begin, count_text(*plot.crossing), escaped(plot.x_unit));
  }
  for (const Curve& curve : plot.curves) {
    std::string path;
    std::string dots;
    for (const PlotPoint& point : curve.points) {
      path +=
          fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x.at(point.x), y.at(point.y));
      dots += fmt::format(
          "<circle class=\"v-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\">"
          "<title>{}, {} {}: {}</title></circle>",
          curve.series, x.at(point.x), y.at(point.y), curve.series, count_text(point.x),
          escaped(plot.x_unit), time_text(point.y));
    }
    svg += fmt::format("<path class=\"line v-{}\" d=\"{}\"/>{}", curve.series, path, dots);
  }
  return svg + "</svg>";
}

std::string svg_dots(const std::vector<DotRow>& rows) {
  constexpr double kWidth = 1200;
  constexpr double kRow = 26;
  constexpr double kLabels = 250;
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
  const Scale x = scale_of(least, most, kLabels, kWidth - 20, true);
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
