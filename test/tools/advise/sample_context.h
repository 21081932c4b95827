// Makes a context for tests of rules. The profile has a wall time of 1000 ns and one row, which is
// a convolution kernel that takes 800 ns.
#pragma once

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

}  // namespace vitrine::test
