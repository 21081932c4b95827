// The XNNPACK backend, which runs the delegates of ExecuTorch's XnnpackPartitioner. Payload:
// docs/formats/xnnpack_payload.md. Trace: docs/formats/xnnpack_trace.md. Errors name the invalid
// node or value of the payload, and the rule that it breaks.
#pragma once

#include "backends/xnnpack/runtime/execution/options.h"
#include "backends/xnnpack/runtime/execution/workspace.h"
#include "backends/xnnpack/runtime/reader/graph.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "backends/xnnpack/runtime/weights/weights_cache.h"
#include "vitrine/xnnpack.h"

namespace vitrine {

// Payloads are untrusted; `limits` bounds the memory that a payload can make XNNPACK allocate.
// Thread-safe. Delegates share workspaces and weights only with delegates of the same backend
// object. Delegates may outlive the backend object. Options: options.h, docs/xnnpack.md.
class XnnpackBackend final : public BackendInterface {
 public:
  // `defaults` apply to options that are not set at load. Their paths must outlive the backend.
  explicit XnnpackBackend(const xnnpack::Limits& limits = {}, const xnnpack::Options& defaults = {})
      : limits_(limits), defaults_(defaults) {}

  const char* id() const override { return xnnpack::kBackendId; }
  Result<std::unique_ptr<Delegate>> init(const BackendInitContext& context,
                                         std::span<const std::byte> payload,
                                         std::span<const CompileSpec> compile_specs) const override;

 private:
  xnnpack::Limits limits_;
  xnnpack::Options defaults_;
  mutable xnnpack::Workspaces workspaces_;
  mutable xnnpack::WeightsCaches caches_;
};

}  // namespace vitrine
