// DelegateProfile interprets the events of a backend's delegates and names the backend in reports.
//
// A backend implements DelegateProfile in its own folder (docs/writing_a_backend.md). A tool that
// makes profiles lists the implementations in ProfileOptions::delegates. The default
// implementations below apply to all other delegates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// The meaning of the identifier in an operator's event.
struct OperatorIdentity {
  enum class Kind : uint8_t {
    kMapped,        // a key of the delegate map in the record; otherwise a name, see `node`
    kDebugHandle,   // the debug handle of the op that the operator runs
    kLayoutChange,  // a layout change that the lowering inserted; the model has no such op
    kUnknown,
  };
  Kind kind = Kind::kMapped;
  etrecord::DebugHandle handle = 0;  // set for kDebugHandle
  // For kMapped, if the delegate map lacks the identifier: a text that begins with the name of the
  // operator's node in the edge graph ("aten_relu_default_3"). The longest matching name counts.
  // May be empty.
  std::string node = {};
};

// The role of an event in its delegate call.
struct EventMeaning {
  enum class Kind : uint8_t {
    kOperator,     // an operator, or a part of an operator
    kPhase,        // a part of the call that does not run an operator, named `phase`
    kOverlapping,  // contains or is inside other events of the call, so its time would count twice
    kFigure,       // a number that is not a part of a sum; reports list it as a note
  };
  Kind kind = Kind::kOperator;
  // The queue whose clock measured the event; null for the CPU's clock. The queue must have static
  // lifetime.
  const DeviceQueue* queue = nullptr;
  bool covers_call = false;  // true for a phase in which the ops of the call run
  std::string phase = {};    // for kPhase: its name, such as "copy in"; for kFigure: its name
  // Texts that replace the event's identifier and kernel, unless they are empty. The identifier
  // must be the same in all runs.
  std::string identifier = {};
  std::string kernel = {};
};

// The operator in a delegate's payload to which an event belongs.
struct PayloadOperator {
  size_t index = 0;  // index among the payload's operators, or among the operators that the events
                     // name
  std::string name;  // for example "aten.add.Tensor"
};

// Maps the nodes of a delegate's graph to the operators that run. Some backends log an operator map
// once, at load.
struct OperatorMap {
  enum class Role : uint8_t {
    kOperator,  // runs as an operator
    kFused,     // fused into the operator of another node
    kElided,    // nothing runs for the node
  };
  struct Node {
    std::string_view type;
    // The node's debug handle, which is also the integer identifier that its operator logs.
    uint32_t debug_handle = 0;
    Role role = Role::kElided;
    size_t op = 0;                 // for kOperator and kFused: index in order of execution
    std::optional<size_t> serves;  // for an inserted layout change: the node that needs it
  };
  // The reason why start times in the delegate were computed, as text for a report. Empty if start
  // times were measured.
  std::string_view derived_times;
  std::vector<Node> nodes;
  size_t num_operators = 0;  // the largest `op` plus one, which is a lower bound
};

// Implementations are stateless, immutable and thread-safe. Returned views are valid while the
// profile is alive.
class DelegateProfile {
 public:
  virtual ~DelegateProfile() = default;

  // ---- Names

  virtual std::string_view backend_id() const = 0;  // id in programs
  // Returns the backend's name, such as "XNNPACK". If empty, reports use the id.
  virtual std::string_view name() const { return {}; }
  // Returns the backend's name in table rows, such as "xnn", at most 8 columns wide. If empty,
  // reports use the first letters of the id.
  virtual std::string_view short_name() const { return {}; }
  // Returns a short kernel name for narrow tables: "GEMM f32" for the logged name "Fully Connected
  // (NC, F32) GEMM". If empty, reports use `kernel`.
  virtual std::string short_kernel_name(std::string_view /*kernel*/) const { return {}; }

  // ---- Events

  // Returns true if the event itself shows that this backend logged it. Traces of ExecuTorch lack
  // the ids of backends, so reports rely on this function if neither the program nor the record is
  // given.
  virtual bool recognizes(const etdump::ProfileEvent& /*event*/) const { return false; }
  virtual EventMeaning interpret(const etdump::ProfileEvent& /*event*/) const { return {}; }
  // Returns the payload operator of each event of one call. `events` has the events' string
  // identifiers. `payload` has the names of the payload's operators in order, or is empty if no
  // program is given. The default implementation returns an empty list.
  virtual std::vector<std::optional<PayloadOperator>> payload_operators(
      std::span<const std::string_view> /*events*/,
      std::span<const std::string> /*payload*/) const {
    return {};
  }

  // ---- Operators

  // Interprets an event's identifier: the integer `id`, or the string `name` if `id` is
  // etdump::kUnset.
  virtual OperatorIdentity identify(int32_t /*id*/, std::string_view /*name*/) const { return {}; }
  // Returns true if an operator that is logged as `kernel` may run the op with the base name `op`.
  // For example, "Fully Connected (NC, F32) GEMM" may run "linear". Used for operators without a
  // known identifier.
  virtual bool may_run(std::string_view /*kernel*/, std::string_view /*op*/) const { return false; }
  // Returns true if an operator that is logged as `kernel` may be a layout change. Such an operator
  // counts as inserted by the lowering, unless it is matched with an op of the model.
  virtual bool may_be_layout_change(std::string_view /*kernel*/) const { return false; }

  // ---- Operator maps

  // Returns the string identifier of the events whose metadata is an operator map, or an empty
  // string. Operator map events do not count as operators.
  virtual std::string_view operator_map_event() const { return {}; }
  // Parses an operator map. `text` is untrusted and outlives the result. Throws an InspectorError
  // that names the invalid line. In the result, each operator has at most one node with the role
  // kOperator. A node that runs as two operators belongs to only one of the two. Every `serves` is
  // the index of a node.
  virtual OperatorMap parse_operator_map(std::string_view /*text*/) const { return {}; }
  // Returns true if a lowering can turn the op with the base name `op` into a node of the type
  // `type` (OperatorMap::Node::type).
  virtual bool is_op_of_node_type(std::string_view /*op*/, std::string_view /*type*/) const {
    return false;
  }
};

// Facts from the program about one of its delegates.
struct ProgramDelegate {
  std::string backend;
  std::vector<std::string> operators;  // names in order of execution; empty if unknown
};
// Delegates, keyed by the index of their instruction in the method's first chain.
using ProgramDelegates = std::map<int32_t, ProgramDelegate>;

// A list of profiles, which must outlive the objects that refer to it.
using DelegateProfiles = std::span<const DelegateProfile* const>;

// Returns the profile of the backend, or null.
const DelegateProfile* find_profile(DelegateProfiles profiles, std::string_view backend_id);

// Returns the profile that recognizes the event, or null.
const DelegateProfile* recognizing_profile(DelegateProfiles profiles,
                                           const etdump::ProfileEvent& event);

// Returns the profile whose operator_map_event() is `event`, or null.
const DelegateProfile* profile_of_operator_map_event(DelegateProfiles profiles,
                                                     std::string_view event);

// The profile of delegates that no other profile describes. Identifiers are keys of the delegate
// map. Kernel names are interpreted with the other profiles.
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
