// Predicts how a change to a program affects its time on a device, from a profile that the device
// recorded and from runs on this machine. docs/advice.md has the formulas.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "inspector/join/profile.h"
#include "tools/common/interval.h"

namespace vitrine::tools {

struct DevicePrediction {
  Interval ratio;      // of the times on the device with and without the change
  size_t kept = 0;     // rows that both programs have
  size_t removed = 0;  // rows of the baseline only
  size_t added = 0;    // rows of the changed program only
  Interval factor;     // the share there, divided by the share here, of the added rows
};

class DeviceModel {
 public:
  // `there` and `here` are profiles of the same program. `there` was recorded on the device, and
  // `here` on this machine.
  DeviceModel(const inspector::Profile& there, const inspector::Profile& here);

  // `changed` was profiled on this machine. `ratio` is its time divided by the baseline's time on
  // this machine.
  DevicePrediction predict(const inspector::Profile& changed, const Interval& ratio) const;

 private:
  // Totals of the rows of one operator, or of all rows.
  struct Group {
    double there = 0, here = 0;   // shares of a run
    double sum = 0, squares = 0;  // of the logarithms of there / here, weighted by `weight`
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

  std::vector<BaselineRow> rows_;  // of the profile of this machine
  double fixed_ = 0;               // share of rows that only the device has
  double overhead_there_ = 0, overhead_here_ = 0;
  size_t entries_ = 0;
  std::map<std::string, Group> ops_;
  Group all_;
  double flops_share_ = 0;  // 1 / (FLOPs in the time of a run on the device); 0: unknown
  double balance_;          // logarithm of the ratio of both machines' FLOPs per byte
};

}  // namespace vitrine::tools
