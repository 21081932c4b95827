// Makes a small profile for tests of reports, and splits a report into its lines.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

inline TimeStatistics around(double ns) { return {ns * 0.9, ns, ns * 1.1, ns * 1.2, ns}; }

// Returns a profile of 1 ms: a layout change, a convolution with folded ops, a kernel, and a row
// with an inferred op.
inline Profile sample_profile() {
  Profile profile;
  profile.method = "forward";
  profile.run = {.model = "net.pte",
                 .inputs = {"f32[1,3,8,8]"},
                 .outputs = {"f32[1,10]"},
                 .record = "net.etrecord",
                 .load_ns = 100'000,
                 .init_ns = 9'100'000,
                 .warmup_runs = 5,
                 .threads = 1,
                 .peak_rss_bytes = 24'100'000,
                 .steady_rss_bytes = 20'000'000,
                 .memory = MemoryInfo{.planned = 600'000, .packed_weights = 14'000'000},
                 .trace_overhead = 0.003,
                 .trace_floor = 0.002};
  profile.runs = 50;
  profile.wall = around(1e6);
  profile.rows.resize(4);
  ProfileRow& layout = profile.rows[0];
  layout.where = Where::kDelegate;
  layout.is_inserted = true;
  layout.inserted_for = {"aten.convolution.default"};
  layout.inserted_for_row = 2;
  layout.kernel = "Transpose (ND, X32)";
  layout.join = Join::kExact;
  ProfileRow& convolution = profile.rows[1];
  convolution.where = Where::kDelegate;
  convolution.kernel = "Convolution (NHWC, F32) IGEMM";
  convolution.identifier = "1";
  convolution.join = Join::kExact;
  convolution.source_ops = {"aten.convolution.default"};
  convolution.modules = {"features.0.0"};
  convolution.source_lines = {"net.py:7"};
  convolution.folded_ops = {"aten._native_batch_norm_legit_no_training.default",
                            "aten.hardtanh.default"};
  convolution.folded_modules = {"features.0.1", "features.0.2"};
  convolution.debug_handles = {1, 2, 3};
  ProfileRow& kernel = profile.rows[2];
  kernel.kernel = "aten::split_with_sizes_copy.out";
  kernel.library = "portable";
  kernel.join = Join::kExact;
  kernel.source_ops = {"aten.split_with_sizes_copy.default"};
  kernel.modules = {""};
  kernel.source_lines = {""};
  kernel.instruction = 1;
  ProfileRow& inferred = profile.rows[3];
  inferred.kernel = "aten::copy_";
  inferred.library = "portable";
  inferred.join = Join::kInferred;
  inferred.source_ops = {"aten.copy_.default"};
  inferred.modules = {""};
  inferred.source_lines = {""};
  inferred.instruction = 2;
  for (size_t i = 0; i < 2; ++i) {
    profile.rows[i].delegate = "XnnpackBackend";
    profile.rows[i].delegate_name = "XNNPACK";
    profile.rows[i].delegate_short_name = "xnn";
    profile.rows[i].partition = 0;
  }
  const double times[] = {50e3, 800e3, 120e3, 10e3};
  for (size_t i = 0; i < 4; ++i) {
    profile.rows[i].calls = 1;
    profile.rows[i].time = around(times[i]);
    profile.rows[i].share = times[i] / 1e6;
  }
  profile.unattributed = around(20e3);
  profile.delegate_calls = {{.delegate = "XnnpackBackend",
                             .operators = 2,
                             .source_ops = {"a", "b", "c"},
                             .calls = 1,
                             .time = around(860e3)}};
  return profile;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace vitrine::inspector
