#include "inspector/compare/comparison.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "inspector/compare/row_alignment.h"
#include "inspector/join/statistics.h"

namespace vitrine::inspector {
namespace {

// The slowest tenth of the runs is left out, separately for A and for B.
constexpr size_t kOneSlowOf = 10;

// Returns a flag for each run: false for the slowest runs.
std::vector<bool> runs_without_slowest(const std::vector<double>& wall) {
  std::vector<bool> is_kept(wall.size(), true);
  if (wall.size() < kOneSlowOf) return is_kept;
  std::vector<size_t> order(wall.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t one, size_t other) { return wall[one] > wall[other]; });
  order.resize(wall.size() / kOneSlowOf);
  for (const size_t run : order) is_kept[run] = false;
  return is_kept;
}

// Adds up the times of rows, separately for each run. Skips cold runs and the runs that keep_only()
// excludes.
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
    std::vector<double> kept_sums;
    for (size_t i = 0; i < sums.size(); ++i) {
      if (is_kept_[i]) kept_sums.push_back(sums[i]);
    }
    return kept_sums;
  }

  const Profile& profile_;
  std::vector<bool> is_kept_;
};

// Compares queues with the same name and unit, and adds notes about the other queues.
void compare_queues(const Profile& a, const Profile& b, bool is_paired, Comparison& result) {
  std::vector<bool> is_used(b.queues.size());
  for (size_t i = 0; i < a.queues.size(); ++i) {
    const auto found = std::ranges::find_if(b.queues, [&](const Profile& queue) {
      return queue.queue == a.queues[i].queue && queue.has_ticks == a.queues[i].has_ticks;
    });
    if (found == b.queues.end()) {
      result.notes.push_back("only A has the queue " + a.queues[i].queue);
      continue;
    }
    const auto index = static_cast<size_t>(found - b.queues.begin());
    is_used[index] = true;
    result.queues.push_back({i, index, compare_profiles(a.queues[i], *found, is_paired)});
  }
  for (size_t i = 0; i < is_used.size(); ++i) {
    if (!is_used[i]) result.notes.push_back("only B has the queue " + b.queues[i].queue);
  }
}

}  // namespace

ComparedOp compare_times(const std::vector<double>& a, const std::vector<double>& b,
                         bool is_paired) {
  ComparedOp op;
  op.a = statistics_of(a, a.size());
  op.b = statistics_of(b, b.size());
  op.change = op.b.p50 - op.a.p50;
  if (op.a.avg > 0 && op.b.avg > 0)
    op.ratio = is_paired ? ratio_of_pairs(a, b) : ratio_of_runs(a, b);
  return op;
}

Comparison compare_profiles(const Profile& a, const Profile& b, bool is_paired) {
  CountedRuns samples_a(a);
  CountedRuns samples_b(b);
  RowAlignment rows = align_rows(a, b);
  Comparison result;
  result.alignment = rows.alignment;
  result.notes = std::move(rows.notes);
  result.is_paired = is_paired && a.runs == b.runs;
  std::vector<bool> kept_a = runs_without_slowest(samples_a.wall());
  std::vector<bool> kept_b = runs_without_slowest(samples_b.wall());
  if (result.is_paired) {
    for (size_t i = 0; i < kept_a.size(); ++i) kept_a[i] = kept_b[i] = kept_a[i] && kept_b[i];
  }
  samples_a.keep_only(std::move(kept_a));
  samples_b.keep_only(std::move(kept_b));
  result.runs_a = samples_a.wall().size();
  result.runs_b = samples_b.wall().size();
  for (RowGroup& group : rows.groups) {
    ComparedOp op =
        compare_times(samples_a.of(group.rows_a), samples_b.of(group.rows_b), result.is_paired);
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
      compare_times(samples_a.unattributed(), samples_b.unattributed(), result.is_paired);
  result.wall = compare_times(samples_a.wall(), samples_b.wall(), result.is_paired);
  result.has_ticks = a.has_ticks;
  compare_queues(a, b, is_paired, result);
  return result;
}

}  // namespace vitrine::inspector
