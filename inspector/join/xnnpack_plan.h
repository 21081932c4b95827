// What the XNNPACK backend made of a delegate's graph, as it logs it once at load: which node runs
// as which operator. Text, specified in docs/formats/xnnpack_trace.md; untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace vitrine::inspector {

// The string identifier of the event that carries the plan as metadata.
inline constexpr std::string_view kXnnpackPlanEvent = "xnnpack.plan";
inline constexpr std::string_view kXnnpackBackend = "XnnpackBackend";
// The debug handle of layout changes that the lowering inserted.
inline constexpr uint32_t kInsertedHandle = 65535;

struct XnnpackPlan {
  enum class Place : uint8_t {
    kOperator,  // runs as an operator
    kFused,     // XNNPACK fused it into an operator
    kElided,    // nothing runs for it
  };
  struct Node {
    std::string_view type;
    uint32_t debug_handle = 0;
    Place place = Place::kElided;
    size_t op = 0;                 // kOperator, kFused: counted in order of execution
    std::optional<size_t> serves;  // the node that an inserted layout change is for
  };
  bool derived_times = false;  // start times were computed, not measured
  std::vector<Node> nodes;
  size_t num_operators = 0;  // at least: one more than the largest `op`
};

// `text` must outlive the plan. Throws InspectorError that names the line. Guarantees: no operator
// has two nodes of its own, and every `serves` names a node that is there. An operator may have no
// node of its own: XNNPACK runs some nodes as two.
XnnpackPlan parse_xnnpack_plan(std::string_view text);

}  // namespace vitrine::inspector
