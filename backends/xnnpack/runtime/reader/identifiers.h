// Identifiers that the backend's lowering, its runtime, its traces and the tools share.
#pragma once

#include <cstdint>

namespace vitrine::xnnpack {

inline constexpr char kBackendId[] = "XnnpackBackend";
// The debug handle of nodes that do not come from an op of the model, such as inserted layout
// changes (docs/formats/xnnpack_payload.md).
inline constexpr uint32_t kInsertedHandle = 65535;
// The identifier of the event that carries a delegate's operator map
// (docs/formats/xnnpack_trace.md).
inline constexpr char kOperatorMapEvent[] = "xnnpack.plan";
// The first line of an operator map says if start times were measured.
inline constexpr char kMeasuredMapHeader[] = "xnnpack-plan 1 measured";
inline constexpr char kDerivedMapHeader[] = "xnnpack-plan 1 derived";

}  // namespace vitrine::xnnpack
