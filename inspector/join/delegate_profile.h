// DelegateProfile interprets the events of a backend's delegates and names the backend in reports.
//
// A backend implements DelegateProfile in its own folder (docs/writing_a_backend.md). Programs that
// make profiles pass in the implementations that they have (ProfileOptions::delegates). The
// defaults below apply to all other delegates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/etrecord/etrecord.h"

namespace vitrine::inspector {

// The meaning of the identifier in an operator's event.
struct OperatorIdentity {
  enum class Kind : uint8_t {
    kMapped,        // a key of the delegate map in the record
    kDebugHandle,   // the debug handle of the op that the operator runs
    kLayoutChange,  // a layout change that the lowering inserted; the model has no such op
    kUnknown,
  };
  Kind kind = Kind::kMapped;
  etrecord::DebugHandle handle = 0;  // for kDebugHandle
};

// Maps the nodes of a delegate's graph to the operators that run. Some backends log an operator map
// once, at load. Nodes and operators have debug handles: see OperatorIdentity.
struct OperatorMap {
  enum class Role : uint8_t {
    kOperator,  // runs as an operator
    kFused,     // fused into the operator of another node
    kElided,    // nothing runs for it
  };
  struct Node {
    std::string_view type;
    // The node's debug handle, which is also the integer identifier that its operator logs.
    uint32_t debug_handle = 0;
    Role role = Role::kElided;
    size_t op = 0;                 // for kOperator and kFused: index in order of execution
    std::optional<size_t> serves;  // for an inserted layout change: the node that needs it
  };
  // The reason, as text for a report, why start times in the delegate were computed. Empty if they
  // were measured.
  std::string_view derived_times;
  std::vector<Node> nodes;
  size_t num_operators = 0;  // a lower bound: the largest `op` plus one
};

// Stateless, immutable and thread-safe. Returned views are valid while the profile is alive.
class DelegateProfile {
 public:
  virtual ~DelegateProfile() = default;

  // ---- Names

  virtual std::string_view backend_id() const = 0;  // the id in programs
  // Returns the name in sums, "XNNPACK". If empty, reports use the id.
  virtual std::string_view name() const { return {}; }
  // Returns the name in rows, at most 8 columns wide, "xnn". If empty, reports use the first
  // letters of the id.
  virtual std::string_view short_name() const { return {}; }
  // Returns a name for narrow tables, "GEMM f32", for an operator that is logged as `kernel`
  // ("Fully Connected (NC, F32) GEMM"). If empty, reports use `kernel`.
  virtual std::string short_kernel_name(std::string_view /*kernel*/) const { return {}; }

  // ---- Operators

  // `id` is etdump::kUnset if the event has a `name` instead.
  virtual OperatorIdentity identify(int32_t /*id*/, std::string_view /*name*/) const { return {}; }
  // For operators without a known identifier: returns true if an operator that is logged as
  // `kernel` ("Fully Connected (NC, F32) GEMM") may run the op ("linear", a base name).
  virtual bool may_run(std::string_view /*kernel*/, std::string_view /*op*/) const { return false; }
  // Returns true if such an operator is a layout change of the lowering unless an op explains it.
  virtual bool may_be_layout_change(std::string_view /*kernel*/) const { return false; }

  // ---- Operator maps

  // Returns the string identifier of the events whose metadata is an operator map, or an empty text
  // if the backend logs no operator maps. Operator map events are not operators.
  virtual std::string_view operator_map_event() const { return {}; }
  // `text` is untrusted and outlives the operator map. Throws InspectorError, which names the line.
  // In the result, an operator has at most one node with the role kOperator (none if one node runs
  // as two operators), and every `serves` is the index of a node.
  virtual OperatorMap parse_operator_map(std::string_view /*text*/) const { return {}; }
  // Returns true if nodes of that type (OperatorMap::Node::type) are made from the op (a base
  // name).
  virtual bool is_op_of_node_type(std::string_view /*op*/, std::string_view /*type*/) const {
    return false;
  }
};

// The profiles must outlive the objects that refer to them.
using DelegateProfiles = std::span<const DelegateProfile* const>;

// Returns null if no profile describes that backend.
const DelegateProfile* find_profile(DelegateProfiles profiles, std::string_view backend_id);

// Returns the profile with that operator_map_event, or null for other events.
const DelegateProfile* profile_of_operator_map_event(DelegateProfiles profiles,
                                                     std::string_view event);

// The profile of delegates that no other profile describes. Identifiers are keys of the delegate
// map. Kernel names are interpreted like those of the described delegates.
class UnknownDelegate final : public DelegateProfile {
 public:
  explicit UnknownDelegate(DelegateProfiles described) : described_(described) {}
  std::string_view backend_id() const override { return {}; }
  bool may_run(std::string_view kernel, std::string_view op) const override;
  bool may_be_layout_change(std::string_view kernel) const override;

 private:
  DelegateProfiles described_;
};

}  // namespace vitrine::inspector
