#include "tools/advise/device_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "inspector/compare/row_alignment.h"
#include "tools/advise/rows.h"

namespace vitrine::tools {
namespace {

// Logarithms of the assumed factors between predicted and true times (docs/advice.md).
const double kNewKernel = std::log(1.5);   // another kernel of the same operator and dtype
const double kOtherDtype = std::log(2.0);  // int8 or f16 instead of f32
const double kUnknownBalance = std::log(2.0);
constexpr double kQuantile = 1.645;    // 90 % of a normal distribution
constexpr double kMinRowShare = 1e-3;  // smaller rows are noise

// Rows with equal keys do the same work with the same kernel.
std::string key_of(const inspector::ProfileRow& row) {
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", static_cast<int>(row.where), row.delegate,
                                row.kernel, row.library, full_op_of(row));
  if (row.main_op < row.modules.size()) key += '\n' + row.modules[row.main_op];
  if (row.cost) key += fmt::format("\n{} {}", row.cost->flops, row.cost->bytes);
  return key;
}

size_t entries_of(const inspector::Profile& profile) {
  const auto kernels = std::ranges::count_if(profile.rows, [](const inspector::ProfileRow& row) {
    return row.where != inspector::Where::kDelegate;
  });
  return static_cast<size_t>(kernels) + profile.delegate_calls.size();
}

double balance_of(const std::optional<inspector::MachineLimits>& there,
                  const std::optional<inspector::MachineLimits>& here) {
  if (!there || !here || !there->is_measured() || !here->is_measured()) return kUnknownBalance;
  return std::abs(std::log(there->flops_per_s / there->bytes_per_s) -
                  std::log(here->flops_per_s / here->bytes_per_s));
}

bool is_float32(const inspector::ProfileRow& row) { return row.cost && row.cost->is_float32; }

}  // namespace

void DeviceModel::Group::add(const inspector::ProfileRow& row, double share_there) {
  there += share_there;
  here += row.share;
  (is_float32(row) ? has_float32 : has_other) = true;
  if (row.share < kMinRowShare || share_there < kMinRowShare) return;
  const double log = std::log(share_there / row.share), importance = (share_there + row.share) / 2;
  weight += importance;
  sum += importance * log;
  squares += importance * log * log;
}

double DeviceModel::Group::deviation() const {
  if (weight <= 0) return 0;
  const double mean = sum / weight;
  return std::sqrt(std::max(squares / weight - mean * mean, 0.0));
}

DeviceModel::DeviceModel(const inspector::Profile& there, const inspector::Profile& here)
    : rows_(here.rows.size()),
      overhead_there_(there.unattributed_share()),
      overhead_here_(here.unattributed_share()),
      entries_(entries_of(here)),
      balance_(balance_of(there.run.limits, here.run.limits)) {
  for (const inspector::RowGroup& group : inspector::align_rows(there, here).groups) {
    double share_there = 0, share_here = 0;
    for (const size_t row : group.rows_a) share_there += there.rows[row].share;
    for (const size_t row : group.rows_b) share_here += here.rows[row].share;
    if (group.rows_b.empty()) fixed_ += share_there;
    for (const size_t row : group.rows_b) {
      rows_[row].there = share_here > 0 ? share_there * here.rows[row].share / share_here
                                        : share_there / static_cast<double>(group.rows_b.size());
    }
  }
  for (size_t i = 0; i < rows_.size(); ++i) {
    const inspector::ProfileRow& row = here.rows[i];
    rows_[i].key = key_of(row);
    all_.add(row, rows_[i].there);
    if (const std::string op = op_of(row); !op.empty()) ops_[op].add(row, rows_[i].there);
  }
  const double wall_s = there.typical(there.wall) * 1e-9;
  if (there.run.limits && there.run.limits->flops_per_s > 0 && wall_s > 0) {
    flops_share_ = 1 / (there.run.limits->flops_per_s * wall_s);
  }
}

Interval DeviceModel::factor_of(const inspector::ProfileRow& row) const {
  const auto found = ops_.find(op_of(row));
  const bool is_known = found != ops_.end() && found->second.there > 0;
  const Group& group = is_known ? found->second : all_;
  const bool is_new_dtype = !is_known || !(is_float32(row) ? group.has_float32 : group.has_other);
  double half = std::hypot(kNewKernel, kQuantile * group.deviation());
  if (is_new_dtype) half = std::hypot(half, kOtherDtype) + balance_;
  return {group.factor() * std::exp(-half), group.factor() * std::exp(half)};
}

DevicePrediction DeviceModel::predict(const inspector::Profile& changed,
                                      const Interval& ratio) const {
  DevicePrediction result;
  std::map<std::string, std::vector<double>> left;  // device's shares of unmatched rows
  for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) left[row->key].push_back(row->there);
  Interval share{fixed_, fixed_};
  for (const inspector::ProfileRow& row : changed.rows) {
    std::vector<double>& same = left[key_of(row)];
    if (!same.empty()) {
      share.low += same.back();
      share.high += same.back();
      same.pop_back();
      ++result.kept;
      continue;
    }
    const Interval factor = factor_of(row);
    double low = row.share * ratio.low * factor.low;
    // The device's limit of float32 arithmetic is a lower bound of a kernel's time.
    if (is_float32(row)) low = std::max(low, row.cost->flops * flops_share_);
    share.low += low;
    share.high += std::max(row.share * ratio.high * factor.high, low);
    result.factor = result.added == 0 ? factor
                                      : Interval{std::min(result.factor.low, factor.low),
                                                 std::max(result.factor.high, factor.high)};
    ++result.added;
  }
  result.removed = rows_.size() - result.kept;

  // Estimates the time outside all rows in two ways: from the number of kernels and delegate calls,
  // and from the same time on this machine.
  const size_t entries = entries_of(changed);
  Interval overhead{overhead_there_, overhead_there_};
  if (entries != entries_ && entries_ > 0) {
    const double by_number =
        overhead_there_ * static_cast<double>(entries) / static_cast<double>(entries_);
    const double scale = overhead_here_ > 0 ? overhead_there_ / overhead_here_ : 1;
    const double measured = changed.unattributed_share() * scale;
    overhead = {std::min(by_number, measured * ratio.low),
                std::max(by_number, measured * ratio.high)};
  }
  result.ratio = {(share.low + overhead.low) * std::exp(-kBetweenMeasurements),
                  (share.high + overhead.high) * std::exp(kBetweenMeasurements)};
  return result;
}

}  // namespace vitrine::tools
