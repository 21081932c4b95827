// Joins each row of a trace with its source ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/profile.h"
#include "inspector/join/trace_rows.h"

namespace vitrine::inspector {

// The nodes that a row runs, as indices into the record's edge graph.
struct RowSource {
  Join join = Join::kNone;
  std::vector<size_t> nodes;                   // in graph order
  size_t main_node = 0;                        // index in `nodes` of the node that names the row
  std::vector<size_t> folded_nodes;            // in the order of the call's handles
  std::vector<std::string> inferred_ops;       // kInferred without a record: names of the row's ops
  std::vector<std::string> inferred_folds;     // and of the ops folded into the row
  std::vector<etrecord::DebugHandle> handles;  // own, then folded
  bool is_inserted = false;                    // a layout change that the lowering inserted
  bool has_all_ops_of_call = false;            // kInferred: `nodes` are all nodes of the call
  std::optional<size_t> serves;                // if is_inserted: the row that needs it
  std::optional<size_t> payload_operator;      // index among the operators of the payload
};

struct CallSource {
  std::string delegate;
  std::string_view derived_times;  // derived_times of the call's operator map
  std::vector<size_t> nodes;       // all nodes of the delegate, in graph order
};

struct SourceJoin {
  std::vector<RowSource> rows;  // parallel to the trace's
  std::map<InstructionId, CallSource> calls;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;  // signs that the record belongs to another program
};

// Joins the rows of a trace. `method` is the record of the method, or null. A record describes
// only the first chain, because ExecuTorch writes no other.
//
// Rules (docs/formats/etdump.md, "Joining"):
// - A row's nodes are those with one of its handles. Several rows may share a handle.
// - If no row runs a node of a delegate call, the node is folded into exactly one row of that call:
//   the row that the call's operator map names, else the nearest row in the graph, inputs first.
// - If no operator of a call has a known identifier, the operators are matched with the call's
//   nodes by kernel name, in order (order_match.h). Operators without a match have all nodes of the
//   call.
// - If the events of a call name operators of its payload (DelegateProfile::payload_operators), the
//   payload's operators are matched with the call's nodes in this way instead, and the other nodes
//   are folded by their neighbors (payload_join.h).
// - If an operator's identifier is not in the delegate map but begins with the name of a node, the
//   operator belongs to that node.
// - The row of a phase that covers a whole call has all nodes of the call.
// - An inserted layout change serves the operator that the operator map names, else the next
//   operator, else the previous one.
SourceJoin join_sources(const MergedTrace& trace, const etrecord::MethodRecord* method,
                        DelegateProfiles delegates, const ProgramDelegates& program = {});

}  // namespace vitrine::inspector
