#include "bench/suite/made_trace.h"

#include <array>
#include <string>

#include "backends/profiles/xnnpack_profile.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/etdump_writer.h"
#include "inspector/join/make_profile.h"
#include "inspector/report/grouping.h"
#include "runtime/extension/trace_buffer.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {
namespace {

constexpr char kKernel[] = "Convolution (NHWC, F32) IGEMM";

}  // namespace

std::vector<std::byte> make_trace(int runs) {
  TraceBuffer trace(static_cast<size_t>(runs) * (kTraceOperators + 2),
                    static_cast<size_t>(runs) + 1);
  uint64_t now = 1'000'000;
  for (int run = 0; run < runs; ++run) {
    trace.begin_block("Execute");
    const uint64_t start = now;
    for (int32_t i = 1; i <= kTraceOperators; ++i) {
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
  for (uint32_t i = 1; i <= kTraceOperators; ++i) {
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

void inspect_trace(const std::vector<std::byte>& trace, const etrecord::EtRecord& record) {
  const std::array delegates = {&xnnpack_profile()};
  inspector::ProfileOptions options;
  options.delegates = delegates;
  const etdump::EtDump dump = etdump::parse_etdump(trace);
  const inspector::Profile profile = inspector::make_profile(dump, &record, options);
  for (const auto by : {inspector::GroupBy::kOp, inspector::GroupBy::kDelegate,
                        inspector::GroupBy::kModule, inspector::GroupBy::kLine}) {
    const inspector::View view{.by = by, .top = 0, .filter = {}};
    if (inspector::group_rows(profile, view).groups.empty())
      throw tools::ToolError("a view of the generated trace has no groups");
  }
  if (profile.rows.size() != kTraceOperators)
    throw tools::ToolError("the profile of the generated trace lacks rows");
}

}  // namespace vitrine::bench
