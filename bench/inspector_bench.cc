// Measures reading, joining and grouping a trace of a million events. Goal: under 2 s and 500 MB.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "backends/xnnpack/format/identifiers.h"
#include "backends/xnnpack/profile/xnnpack_profile.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/etdump_writer.h"
#include "formats/etdump/trace_buffer.h"
#include "host/tool_error.h"
#include "inspector/join/make_profile.h"
#include "inspector/report/grouping.h"
#include "runtime/platform/memory.h"

namespace vitrine::bench {
namespace {

constexpr int32_t kOperators = 249;  // and the call itself
constexpr int kRuns = 4000;
constexpr char kKernel[] = "Convolution (NHWC, F32) IGEMM";

std::vector<std::byte> make_trace() {
  TraceBuffer trace(size_t{kRuns} * (kOperators + 2), kRuns + 1);
  uint64_t now = 1'000'000;
  for (int run = 0; run < kRuns; ++run) {
    trace.begin_block("Execute");
    const uint64_t start = now;
    for (int32_t i = 1; i <= kOperators; ++i) {
      const uint64_t begin = now;
      now += 1000 + static_cast<uint64_t>((run * 7 + i * 13) % 100);
      trace.record({.start_ns = begin,
                    .end_ns = now,
                    .metadata = kKernel,
                    .metadata_size = sizeof kKernel - 1,
                    .chain_index = 0,
                    .instruction_id = 0,
                    .delegate_debug_id = i,
                    .kind = TraceRecord::Kind::kDelegateOperator});
    }
    trace.record({.start_ns = start,
                  .end_ns = now,
                  .name = xnnpack::kBackendId,
                  .chain_index = 0,
                  .instruction_id = 0,
                  .kind = TraceRecord::Kind::kDelegateCall});
    trace.record({.start_ns = start, .end_ns = now + 50, .name = "Method::execute"});
    now += 100;
  }
  const auto dump = tools::check(write_etdump(trace));
  const auto bytes = std::as_bytes(std::span(dump.data(), dump.size()));
  return {bytes.begin(), bytes.end()};
}

etrecord::EtRecord make_record() {
  etrecord::MethodRecord method;
  method.delegates[0].backend = xnnpack::kBackendId;
  for (uint32_t i = 1; i <= kOperators; ++i) {
    method.handles_of_instruction[0].push_back(i);
    method.graph.nodes_of_handle[i].push_back(method.graph.nodes.size());
    etrecord::EdgeNode node;
    node.target = "aten.convolution.default";
    node.debug_handle = i;
    node.module_path = "features." + std::to_string(i / 4) + ".conv." + std::to_string(i % 4);
    node.model_line = "models/net.py:" + std::to_string(i % 20);
    method.graph.nodes.push_back(node);
  }
  etrecord::EtRecord record;
  record.methods["forward"] = method;
  return record;
}

// Linux: resets the peak resident size.
void forget_peak() {
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "we"); file != nullptr) {
    std::fputs("5", file);
    std::fclose(file);
  }
}

void BM_MillionEvents(benchmark::State& state) {
  const std::vector<std::byte> bytes = make_trace();
  const etrecord::EtRecord record = make_record();
  const std::array delegates = {&xnnpack_profile()};
  inspector::ProfileOptions options;
  options.delegates = delegates;
  forget_peak();
  for (auto _ : state) {
    const etdump::EtDump dump = etdump::parse_etdump(bytes);
    const inspector::Profile profile = inspector::make_profile(dump, &record, options);
    for (const auto by : {inspector::GroupBy::kOp, inspector::GroupBy::kDelegate,
                          inspector::GroupBy::kModule, inspector::GroupBy::kLine}) {
      const inspector::View view{.by = by, .top = 0, .filter = {}};
      benchmark::DoNotOptimize(inspector::group_rows(profile, view));
    }
    if (profile.rows.size() != kOperators) state.SkipWithError("rows are missing");
  }
  state.counters["events"] = kRuns * (kOperators + 2.0);
  state.counters["trace_MB"] = static_cast<double>(bytes.size()) / 1e6;
  state.counters["peak_MB"] = static_cast<double>(platform::resident_memory().peak) / 1e6;
}
BENCHMARK(BM_MillionEvents)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace vitrine::bench

BENCHMARK_MAIN();
