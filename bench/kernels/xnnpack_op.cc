#include "bench/kernels/xnnpack_op.h"

#include <xnnpack.h>

#include <cstdio>
#include <cstdlib>

namespace vitrine::bench {

namespace {

void check(int status, const char* what) {
  if (status == xnn_status_success) return;
  std::fprintf(stderr, "XNNPACK: %s: status %d\n", what, status);
  std::abort();
}

}  // namespace

XnnpackOp::XnnpackOp(const std::vector<Value>& values, const Define& define, ThreadPool& pool) {
  check(xnn_initialize(nullptr), "initialize");
  uint32_t externals = 0;
  for (const Value& value : values) externals += value.constant ? 0 : 1;
  check(xnn_create_subgraph(externals, 0, &subgraph_), "create_subgraph");
  std::vector<uint32_t> ids;
  std::vector<xnn_external_value> bindings;
  for (const Value& value : values) {
    uint32_t id = XNN_INVALID_VALUE_ID;
    const uint32_t flags = value.constant ? 0
                           : value.output ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT
                                          : XNN_VALUE_FLAG_EXTERNAL_INPUT;
    check(xnn_define_tensor_value(
              subgraph_, xnn_datatype_fp32, value.dims.size(), value.dims.data(),
              value.constant ? value.data : nullptr,
              value.constant ? XNN_INVALID_VALUE_ID : static_cast<uint32_t>(bindings.size()), flags,
              &id),
          "define_tensor_value");
    ids.push_back(id);
    if (!value.constant) bindings.push_back({id, value.data});
  }
  check(define(subgraph_, ids), "define node");
  check(xnn_create_runtime_v2(subgraph_, pool.handle(), 0, &runtime_), "create_runtime");
  check(xnn_reshape_runtime(runtime_), "reshape_runtime");
  check(xnn_setup_runtime_v2(runtime_, bindings.size(), bindings.data()), "setup_runtime");
}

XnnpackOp::~XnnpackOp() {
  xnn_delete_runtime(runtime_);
  xnn_delete_subgraph(subgraph_);
}

void XnnpackOp::run() { check(xnn_invoke_runtime(runtime_), "invoke"); }

}  // namespace vitrine::bench
