#include "inspector/compare/comparison.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "inspector/compare/row_alignment.h"
#include "inspector/join/statistics.h"

namespace vitrine::inspector {
namespace {

// If runs are not paired, the ratios of all pairs count; of more runs than this, evenly spaced
// ones.
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

// Times of each counted run, by row.
class CountedRuns {
 public:
  explicit CountedRuns(const Profile& profile) : profile_(profile), is_kept_(profile.runs, true) {}

  void keep_only(std::vector<bool> runs) { is_kept_ = std::move(runs); }

  std::vector<double> wall() const { return kept({&profile_.wall_samples}); }
  std::vector<double> unattributed() const { return kept({&profile_.unattributed_samples}); }
  std::vector<double> of(const std::vector<size_t>& rows) const {
    std::vector<const RunSamples*> samples;
    samples.reserve(rows.size());
    for (const size_t row : rows) samples.push_back(&profile_.rows[row].samples);
    return kept(samples);
  }

 private:
  std::vector<double> kept(const std::vector<const RunSamples*>& samples) const {
    std::vector<double> sums(is_kept_.size(), 0.0);
    for (const RunSamples* one : samples) {
      for (const RunSample& sample : *one) {
        if (sample.run >= profile_.cold_runs) sums[sample.run - profile_.cold_runs] += sample.ns;
      }
    }
    std::vector<double> some;
    for (size_t i = 0; i < sums.size(); ++i) {
      if (is_kept_[i]) some.push_back(sums[i]);
    }
    return some;
  }

  const Profile& profile_;
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
  const TimeStatistics spread = statistics_of(ratios, ratios.size());
  return Ratio{spread.p50, spread.p10, spread.p90};
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

Comparison compare_profiles(const Profile& a, const Profile& b, bool is_paired) {
  CountedRuns samples_a(a);
  CountedRuns samples_b(b);
  RowAlignment rows = align_rows(a, b);
  Comparison result;
  result.alignment = rows.alignment;
  result.notes = std::move(rows.notes);
  result.is_paired = is_paired && a.runs == b.runs;
  std::vector<bool> usual_a = usual_runs(samples_a.wall());
  std::vector<bool> usual_b = usual_runs(samples_b.wall());
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
