#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "bench/report/results.h"

namespace vitrine::bench {
namespace {

struct Point {
  double work;
  double ratio;  // time of the delegate / time of the kernel
  bool is_noise;
};

// Returns the size from which the delegate is faster, ignoring differences within the noise. Let S
// be the largest size at which the delegate is slower. If S does not exist, returns 0, or nullopt
// if the delegate is not faster at any size. If S exists, interpolates between S and the next size
// on logarithmic scales, or returns nullopt if the delegate is not faster at any size above S.
std::optional<double> crossing(std::vector<Point> points) {
  std::ranges::sort(points, {}, &Point::work);
  size_t first = points.size();
  bool is_faster = false;
  for (; first > 0; --first) {
    const Point& point = points[first - 1];
    if (point.ratio > 1 && !point.is_noise) break;
    is_faster = is_faster || (point.ratio < 1 && !point.is_noise);
  }
  if (!is_faster) return std::nullopt;
  if (first == 0) return 0;
  const Point& below = points[first - 1];
  const Point& above = points[first];
  if (above.ratio >= 1) return above.work;
  const double fraction = std::log(below.ratio) / (std::log(below.ratio) - std::log(above.ratio));
  return below.work * std::pow(above.work / below.work, fraction);
}

}  // namespace

std::vector<Crossing> crossings_of(const Results& results) {
  std::map<std::tuple<std::string, size_t, std::string>, std::vector<Point>> points;
  for (const Result& kernel : results.results) {
    if (kernel.section != "operators" || kernel.variant != "optimized" || !kernel.has_time()) {
      continue;
    }
    const char* unit = kernel.limit == "multiply-adds" ? "multiply-adds" : "elements";
    std::vector<Point>& list = points[{kernel.name, kernel.threads, unit}];
    Result key = kernel;
    key.variant = "xnnpack";
    const Result* delegated = results.find(key.id());
    if (delegated == nullptr || !delegated->has_time() || !delegated->work) continue;
    const double ratio = delegated->time.p50 / kernel.time.p50;
    list.push_back(
        {*delegated->work, ratio, within_noise(ratio, delegated->time.noise, kernel.time.noise)});
  }
  std::vector<Crossing> crossings;
  for (auto& [key, list] : points) {
    crossings.push_back(
        {std::get<0>(key), std::get<1>(key), std::get<2>(key), crossing(std::move(list))});
  }
  return crossings;
}

}  // namespace vitrine::bench
