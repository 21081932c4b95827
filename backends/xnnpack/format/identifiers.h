// What both halves of the backend, its traces and the tools call things by.
#pragma once

#include <cstdint>

namespace vitrine::xnnpack {

// As programs name the backend.
inline constexpr char kBackendId[] = "XnnpackBackend";
// The debug handle of nodes that stand for no op of the model: layout changes that the lowering
// inserted (docs/formats/xnnpack_blob.md).
inline constexpr uint32_t kInsertedHandle = 65535;
// The string identifier of the event that carries a delegate's plan
// (docs/formats/xnnpack_trace.md).
inline constexpr char kPlanEvent[] = "xnnpack.plan";
// Its first line: one of these, by whether the operators' start times were measured.
inline constexpr char kMeasuredPlan[] = "xnnpack-plan 1 measured";
inline constexpr char kDerivedPlan[] = "xnnpack-plan 1 derived";

}  // namespace vitrine::xnnpack
