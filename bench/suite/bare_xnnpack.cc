#include "bench/suite/bare_xnnpack.h"

#include <xnnpack.h>

#include "backends/xnnpack/runtime/reader/payload.h"
#include "backends/xnnpack/runtime/reader/shape_inference.h"
#include "runtime/program/program_access.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {

using tools::check;
using tools::ToolError;

std::vector<DataBuffer> delegate_payloads(const Program& program) {
  std::vector<DataBuffer> payloads;
  for (const auto* delegate : *ProgramAccess::root(program).execution_plan()->Get(0)->delegates()) {
    payloads.push_back(check(ProgramAccess::payload(program, *delegate->processed())));
  }
  return payloads;
}

BareXnnpack::BareXnnpack(const Program& program, const DataBuffer& payload, pthreadpool_t pool) {
  if (xnn_initialize(nullptr) != xnn_status_success) throw ToolError("xnn_initialize failed");
  Budget steps;
  const xnnpack::Payload opened = check(xnnpack::open_payload(payload.bytes(), steps));
  graph_ = check(xnnpack::read_graph(*opened.graph, steps));
  check(constants_.load(opened, &program.named_data(), nullptr, steps, nullptr, graph_));
  for (const xnnpack::Value& value : graph_.values) shapes_.push_back(value.shape);
  check(xnnpack::infer_shapes(graph_, shapes_, limits_));
  xnn_workspace_t workspace = nullptr;
  if (xnn_create_workspace(&workspace) != xnn_status_success)
    throw ToolError("xnn_create_workspace failed");
  const xnnpack::WorkspaceHandle handle(workspace);
  runtime_ = std::move(check(xnnpack::build_runtime({graph_, shapes_, workspace,
                                                     /*weights=*/nullptr, pool,
                                                     /*profiling=*/false, steps}))
                           .runtime);
  constants_.release_packed();
  set_up();
}

void BareXnnpack::set_up() {
  std::vector<xnn_external_value> externals;
  for (uint32_t i = 0; i < graph_.external_count; ++i) {
    const uint32_t value = graph_.externals[i];
    if (value == xnnpack::kNone)
      throw ToolError("an external ID of the XNNPACK graph has no value");
    const auto shape = shapes_[value].used();
    const std::vector<int32_t> sizes(shape.begin(), shape.end());
    const ScalarType dtype = *graph_.values[value].datatype->argument;
    Array& argument = arguments_.emplace_back(check(Array::zeros(dtype, sizes)));
    externals.push_back({i, argument.mutable_bytes().data()});
  }
  if (xnn_reshape_runtime(runtime_.get()) != xnn_status_success ||
      xnn_setup_runtime_v2(runtime_.get(), externals.size(), externals.data()) !=
          xnn_status_success) {
    throw ToolError("xnn_reshape_runtime or xnn_setup_runtime_v2 failed");
  }
}

void BareXnnpack::invoke() { xnn_invoke_runtime(runtime_.get()); }

}  // namespace vitrine::bench
