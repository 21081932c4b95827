// Predicts how a change affects a program's time on a device, from the device's profile and from
// runs on this machine (docs/advice.md).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "inspector/join/profile.h"
#include "tools/common/interval.h"

namespace vitrine::tools {

struct DevicePrediction {
  Interval ratio;      // changed / baseline time on the device
  size_t kept = 0;     // rows that both programs have
  size_t removed = 0;  // rows of the baseline only
  size_t added = 0;    // rows of the changed program only
  Interval factor;     // device's share / local share of added rows
};

class DeviceModel {
 public:
  // The profile `there` is from the device, and the profile `here` of the same program is from this
  // machine.
  DeviceModel(const inspector::Profile& there, const inspector::Profile& here);

  // `changed` is a profile from this machine. `ratio` is the changed program's time divided by the
  // baseline's time on this machine.
  DevicePrediction predict(const inspector::Profile& changed, const Interval& ratio) const;

 private:
  // Totals of the rows of one operator, or of all rows.
  struct Group {
    double there = 0, here = 0;   // shares of a run
    double sum = 0, squares = 0;  // sums of log(there / here), weighted by `weight`
    double weight = 0;
    bool has_float32 = false, has_other = false;

    void add(const inspector::ProfileRow& row, double share_there);
    double factor() const { return there > 0 && here > 0 ? there / here : 1; }
    double deviation() const;
  };
  struct BaselineRow {
    std::string key;
    double there = 0;
  };

  Interval factor_of(const inspector::ProfileRow& row) const;

  std::vector<BaselineRow> rows_;  // rows of this machine's profile
  double fixed_ = 0;               // share of rows that only the device has
  double overhead_there_ = 0, overhead_here_ = 0;
  size_t entries_ = 0;
  std::map<std::string, Group> ops_;
  Group all_;
  double flops_share_ = 0;  // 1 / (FLOPs in the time of a run on the device); 0: unknown
  double balance_;          // logarithm of the ratio of both machines' FLOPs per byte
};

}  // namespace vitrine::tools
