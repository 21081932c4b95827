// Makes a context for tests of rules. Its profile has a wall time of 1000 ns and one row, which is
// a convolution kernel that takes 800 ns.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/advise/advice.h"
#include "tools/advise/context.h"

namespace vitrine::test {

inline tools::Context context_with_rows() {
  tools::Context context;
  context.profile.wall.p50 = 1000;
  context.model = "m.pte";
  context.program_bytes = 1000;
  context.processors = 4;
  context.threads = 4;
  inspector::ProfileRow row;
  row.source_ops = {"aten.convolution.default"};
  row.kernel = "aten::convolution.out";
  row.time.p50 = 800;
  row.share = 0.8;
  context.profile.rows.push_back(row);
  return context;
}

// Returns a row of a delegate that runs `op`.
inline inspector::ProfileRow delegate_row(const char* op, const char* kernel, double share) {
  inspector::ProfileRow row;
  row.where = inspector::Where::kDelegate;
  row.source_ops = {op};
  row.kernel = kernel;
  row.share = share;
  row.calls = 1;
  return row;
}

inline std::vector<std::string> names_of(const std::vector<tools::Advice>& advice) {
  std::vector<std::string> names;
  for (const tools::Advice& each : advice) names.push_back(each.name);
  return names;
}

class AdviceRule : public testing::Test {
 protected:
  tools::Context context = context_with_rows();
};

}  // namespace vitrine::test
