#include "devtools/inspector/comparison.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "devtools/inspector/row_alignment.h"
#include "devtools/inspector/statistics.h"
#include "devtools/inspector/trace_rows.h"

namespace vitrine::inspector {
namespace {

// Of unpaired runs, the ratios of all pairs count; from more runs than this, evenly spaced ones.
constexpr size_t kMaxSamples = 200;

// The slowest runs of a side, by wall time: one of ten.
constexpr size_t kOneSlowOf = 10;
constexpr size_t kMinRunsToLeaveOut = 5;

// Which runs are not among the slowest.
std::vector<bool> usual_runs(const std::vector<double>& wall) {
  std::vector<bool> is_usual(wall.size(), true);
  if (wall.size() < kMinRunsToLeaveOut) return is_usual;
  std::vector<size_t> order(wall.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t one, size_t other) { return wall[one] > wall[other]; });
  order.resize(std::max<size_t>(1, wall.size() / kOneSlowOf));
  for (const size_t run : order) is_usual[run] = false;
  return is_usual;
}

// Times of each run, by row.
class RunSamples {
 public:
  RunSamples(const ComparedRun& run, const char* side)
      : trace_(merge_runs(run.trace)), runs_(trace_.wall_ns.size()) {
    if (trace_.rows.size() != run.profile.rows.size() || runs_ != run.profile.runs) {
      throw InspectorError(std::string(side) + ": the profile was not made from this trace");
    }
  }

  const std::vector<double>& all_walls() const { return trace_.wall_ns; }
  void keep_only(std::vector<bool> runs) { is_kept_ = std::move(runs); }

  std::vector<double> wall() const { return kept(trace_.wall_ns); }

  std::vector<double> of(const std::vector<size_t>& rows) const {
    std::vector<double> negative(runs_, 0.0);
    for (const size_t row : rows) trace_.rows[row].times.subtract_from(negative);
    for (double& ns : negative) ns = ns == 0 ? 0 : -ns;
    return kept(negative);
  }

  std::vector<double> unattributed() const {
    std::vector<double> rest = trace_.wall_ns;
    for (const TraceRow& row : trace_.rows) row.times.subtract_from(rest);
    return kept(rest);
  }

 private:
  std::vector<double> kept(const std::vector<double>& samples) const {
    std::vector<double> some;
    for (size_t i = 0; i < samples.size(); ++i) {
      if (is_kept_[i]) some.push_back(samples[i]);
    }
    return some;
  }

  MergedTrace trace_;
  size_t runs_;
  std::vector<bool> is_kept_;
};

std::vector<double> thinned(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  if (samples.size() <= kMaxSamples) return samples;
  std::vector<double> some;
  for (size_t i = 0; i < kMaxSamples; ++i) {
    some.push_back(samples[i * (samples.size() - 1) / (kMaxSamples - 1)]);
  }
  return some;
}

double percentile(const std::vector<double>& sorted, double fraction) {
  const double rank = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(rank);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (rank - static_cast<double>(below));
}

std::optional<Ratio> ratio_of(const std::vector<double>& a, const std::vector<double>& b,
                              bool is_paired) {
  std::vector<double> ratios;
  if (is_paired && a.size() == b.size()) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] > 0) ratios.push_back(b[i] / a[i]);
    }
  } else {
    const std::vector<double> some_b = thinned(b);
    for (const double one : thinned(a)) {
      if (one <= 0) continue;
      for (const double other : some_b) ratios.push_back(other / one);
    }
  }
  if (ratios.empty()) return std::nullopt;
  std::sort(ratios.begin(), ratios.end());
  return Ratio{percentile(ratios, 0.5), percentile(ratios, 0.1), percentile(ratios, 0.9)};
}

ComparedOp compared(const std::vector<double>& a, const std::vector<double>& b, bool is_paired) {
  ComparedOp op;
  op.a = statistics_of(a, a.size());
  op.b = statistics_of(b, b.size());
  op.change = op.b.avg - op.a.avg;
  if (op.a.avg > 0 && op.b.avg > 0) op.ratio = ratio_of(a, b, is_paired);
  return op;
}

}  // namespace

Comparison compare_profiles(const ComparedRun& a, const ComparedRun& b, bool is_paired) {
  RunSamples samples_a(a, "A");
  RunSamples samples_b(b, "B");
  RowAlignment rows = align_rows(a.profile, b.profile);
  Comparison result;
  result.alignment = rows.alignment;
  result.notes = std::move(rows.notes);
  result.is_paired = is_paired && a.profile.runs == b.profile.runs;
  std::vector<bool> usual_a = usual_runs(samples_a.all_walls());
  std::vector<bool> usual_b = usual_runs(samples_b.all_walls());
  if (result.is_paired) {
    for (size_t i = 0; i < usual_a.size(); ++i) usual_a[i] = usual_b[i] = usual_a[i] && usual_b[i];
  }
  samples_a.keep_only(std::move(usual_a));
  samples_b.keep_only(std::move(usual_b));
  result.runs_a = samples_a.wall().size();
  result.runs_b = samples_b.wall().size();
  for (RowGroup& group : rows.groups) {
    ComparedOp op =
        compared(samples_a.of(group.rows_a), samples_b.of(group.rows_b), result.is_paired);
    op.rows_a = std::move(group.rows_a);
    op.rows_b = std::move(group.rows_b);
    if (op.is_aligned()) {
      result.aligned_rows_a += op.rows_a.size();
      result.aligned_rows_b += op.rows_b.size();
    } else {
      op.ratio.reset();
    }
    result.ops.push_back(std::move(op));
  }
  result.unattributed =
      compared(samples_a.unattributed(), samples_b.unattributed(), result.is_paired);
  result.wall = compared(samples_a.wall(), samples_b.wall(), result.is_paired);
  return result;
}

}  // namespace vitrine::inspector
