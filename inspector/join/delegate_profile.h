// What the inspector asks a backend: how the events of its delegates are read, and what the backend
// is called in reports.
//
// A backend implements DelegateProfile in its own folder (docs/writing_a_backend.md); programs
// that make profiles pass in the implementations they have (ProfileOptions::delegates). Events of
// other delegates are read by the defaults below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/etrecord/etrecord.h"

namespace vitrine::inspector {

// What the identifier of an operator's event means.
struct OperatorIdentity {
  enum class Kind : uint8_t {
    kMapped,        // a key of the delegate map in the record
    kDebugHandle,   // the debug handle of the op that the operator runs
    kLayoutChange,  // a layout change that the lowering inserted: no op of the model
    kUnknown,
  };
  Kind kind = Kind::kMapped;
  etrecord::DebugHandle handle = 0;  // of kDebugHandle
};

// Which node of a delegate's graph runs as which operator, as some backends log it once at load.
// Nodes and operators carry debug handles: see OperatorIdentity.
struct DelegatePlan {
  enum class Place : uint8_t {
    kOperator,  // runs as an operator
    kFused,     // fused into the operator of another node
    kElided,    // nothing runs for it
  };
  struct Node {
    std::string_view type;
    // Also the integer identifier that its operator logs.
    uint32_t debug_handle = 0;
    Place place = Place::kElided;
    size_t op = 0;                 // kOperator, kFused: counted in order of execution
    std::optional<size_t> serves;  // the node that an inserted layout change is for
  };
  // Why start times within the delegate were computed, for the reader; empty: they were measured.
  std::string_view derived_times;
  std::vector<Node> nodes;
  size_t num_operators = 0;  // at least: one more than the largest `op`
};

// Stateless and immutable: thread-safe. Views that the functions return live as long as the
// profile.
class DelegateProfile {
 public:
  virtual ~DelegateProfile() = default;

  // ---- Names

  virtual std::string_view backend_id() const = 0;  // as programs name it
  // For sums: "XNNPACK". Empty: the id.
  virtual std::string_view name() const { return {}; }
  // For rows, 8 columns at most: "xnn". Empty: the beginning of the id.
  virtual std::string_view short_name() const { return {}; }

  // ---- Operators

  // `id` is etdump::kUnset where the event has `name` instead.
  virtual OperatorIdentity identify(int32_t /*id*/, std::string_view /*name*/) const { return {}; }
  // For operators without a known identifier: whether one that is logged as `kernel`
  // ("Fully Connected (NC, F32) GEMM") may run the op ("linear", a base name).
  virtual bool may_run(std::string_view /*kernel*/, std::string_view /*op*/) const { return false; }
  // Whether such an operator is a layout change of the lowering where no op explains it.
  virtual bool may_be_layout_change(std::string_view /*kernel*/) const { return false; }

  // ---- Plans

  // The string identifier of the event whose metadata is the plan; empty: there are no plans. Such
  // events are not operators.
  virtual std::string_view plan_event() const { return {}; }
  // `text` is untrusted and outlives the plan. Throws InspectorError that names the line. No
  // operator of the result has two nodes of its own, and every `serves` names a node of it. An
  // operator may have no node of its own, where a node runs as two.
  virtual DelegatePlan parse_plan(std::string_view /*text*/) const { return {}; }
  // Whether a node of that type (DelegatePlan::Node::type) is made of the op (a base name).
  virtual bool is_op_of_node_type(std::string_view /*op*/, std::string_view /*type*/) const {
    return false;
  }
};

// They outlive whatever they are given to.
using DelegateProfiles = std::span<const DelegateProfile* const>;

// Null if none is of that backend.
const DelegateProfile* find_profile(DelegateProfiles profiles, std::string_view backend_id);

// Whose plan_event this is; null for other events.
const DelegateProfile* profile_of_plan_event(DelegateProfiles profiles, std::string_view event);

// What holds for a delegate that no profile describes: identifiers are those of its map, and its
// kernels may be called as those of a described one.
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
