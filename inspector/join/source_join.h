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

// The source ops of a row. Nodes are indices into the record's edge graph.
struct RowSource {
  Join join = Join::kNone;
  std::vector<size_t> nodes;                   // in graph order
  size_t main_node = 0;                        // index in `nodes` of the node that names the row
  std::vector<size_t> folded_nodes;            // in the order of the call's handles
  std::vector<std::string> inferred_ops;       // kInferred without a record: names of the row's ops
  std::vector<std::string> inferred_folds;     // kInferred without a record: names of the folded
                                               // ops
  std::vector<etrecord::DebugHandle> handles;  // handles of own nodes, then of folded nodes
  bool is_inserted = false;                    // a layout change that the lowering inserted
  bool has_all_ops_of_call = false;            // kInferred: `nodes` are all nodes of the call
  std::optional<size_t> serves;                // if is_inserted: the row that needs the layout
                                               // change
  std::optional<size_t> payload_operator;      // index among the operators of the payload
};

struct CallSource {
  std::string delegate;
  std::string_view derived_times;  // derived_times of the call's operator map
  std::vector<size_t> nodes;       // all nodes of the delegate, in graph order
};

struct SourceJoin {
  std::vector<RowSource> rows;  // parallel to the rows of the trace
  std::map<InstructionId, CallSource> calls;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;  // signs that the record belongs to another program
};

// Joins the rows of a trace. `method` is the record of the method, or null. ExecuTorch's records
// describe only the first chain of a method, so rows of other chains are joined without a record.
//
// Rules (docs/formats/etdump.md, "Joining"):
// - A row's nodes are the nodes with the row's debug handles. Several rows may share a handle.
// - A node of a delegate call that no row runs is folded into exactly one row of the call: the row
//   that the operator map names, or else the nearest row in the graph, toward inputs first.
// - If no operator of a call has a known identifier, the operators are matched with the call's
//   nodes by kernel name and order (order_match.h). An operator without a match has all nodes of
//   the call, unless it is a layout change.
// - If the events of a call name operators of its payload (DelegateProfile::payload_operators),
//   these operators are matched with the call's nodes by name and order. The other nodes are folded
//   into the rows of their neighbors (payload_join.h).
// - If an operator's identifier is not in the delegate map but begins with the name of a node, the
//   operator belongs to that node.
// - The row of a phase that covers a whole call has all nodes of the call.
// - An inserted layout change serves the operator that the operator map names, or else the next
//   operator, or else the previous operator.
SourceJoin join_sources(const MergedTrace& trace, const etrecord::MethodRecord* method,
                        DelegateProfiles delegates, const ProgramDelegates& program = {});

}  // namespace vitrine::inspector
