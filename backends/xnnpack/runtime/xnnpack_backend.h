// The XNNPACK backend: runs the delegates that ExecuTorch's XnnpackPartitioner makes.
//
// Payload: docs/formats/xnnpack_blob.md. Trace: docs/formats/xnnpack_trace.md. Errors name the node
// or value of the payload and what XNNPACK or the format does not allow.
#pragma once

#include "backends/xnnpack/runtime/graph.h"
#include "runtime/backend/backend.h"

namespace vitrine {

// Stateless. Payloads are untrusted; `limits` bound what one may make the process allocate.
class XnnpackBackend final : public BackendInterface {
 public:
  explicit XnnpackBackend(const xnnpack::Limits& limits = {}) : limits_(limits) {}

  const char* id() const override { return "XnnpackBackend"; }
  Result<std::unique_ptr<Delegate>> init(const BackendInitContext& context,
                                         std::span<const std::byte> processed,
                                         std::span<const CompileSpec> compile_specs) const override;

 private:
  xnnpack::Limits limits_;
};

// With the default limits; lives as long as the process.
const BackendInterface& xnnpack_backend();

}  // namespace vitrine
