// Plots with logarithmic axes, as inline SVG. Colours and fonts are the page's: class "v-NAME" for
// the series NAME.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace vitrine::bench {

struct PlotPoint {
  double x = 0;  // both above 0
  double y = 0;
};
struct Curve {
  std::string series;
  std::vector<PlotPoint> points;  // ascending in x
};
// Curves over sizes, with a mark at `crossing`.
struct CurvePlot {
  std::string title;
  std::string x_unit;
  std::vector<Curve> curves;
  std::optional<double> crossing;
};
std::string svg_curves(const CurvePlot& plot);

struct Dot {
  std::string series;
  double ns = 0;
  bool is_hollow = false;
  std::string text;  // told when pointed at
};
struct DotRow {
  std::string label;
  std::vector<Dot> dots;
};
// A line for each row, times along it.
std::string svg_dots(const std::vector<DotRow>& rows);

// For texts and attributes of HTML and SVG.
std::string escaped(const std::string& text);

}  // namespace vitrine::bench
