// The XNNPACK backend: runs the delegates that ExecuTorch's XnnpackPartitioner makes.
//
// Payload: docs/formats/xnnpack_blob.md. Trace: docs/formats/xnnpack_trace.md. Errors name the node
// or value of the payload and what XNNPACK or the format does not allow.
#pragma once

#include "backends/xnnpack/format/identifiers.h"
#include "backends/xnnpack/runtime/graph.h"
#include "backends/xnnpack/runtime/options.h"
#include "backends/xnnpack/runtime/weights_cache.h"
#include "backends/xnnpack/runtime/workspace.h"
#include "vitrine/xnnpack.h"

namespace vitrine {

// Payloads are untrusted; `limits` bound what one may make the process allocate. Thread-safe.
// Delegates share workspaces and weights only with those of the same backend object; they may
// outlive it. Options: backends/xnnpack/runtime/options.h, docs/xnnpack.md
class XnnpackBackend final : public BackendInterface {
 public:
  // `defaults` hold where loading gives no options; its path outlives the backend.
  explicit XnnpackBackend(const xnnpack::Limits& limits = {}, const xnnpack::Options& defaults = {})
      : limits_(limits), defaults_(defaults) {}

  const char* id() const override { return xnnpack::kBackendId; }
  Result<std::unique_ptr<Delegate>> init(const BackendInitContext& context,
                                         std::span<const std::byte> processed,
                                         std::span<const CompileSpec> compile_specs) const override;

 private:
  xnnpack::Limits limits_;
  xnnpack::Options defaults_;
  mutable xnnpack::Workspaces workspaces_;
  mutable xnnpack::WeightsCaches caches_;
};

}  // namespace vitrine
