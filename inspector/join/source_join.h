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

// Numbers of nodes are positions in the record's edge graph.
struct RowSource {
  Join join = Join::kNone;
  std::vector<size_t> nodes;         // in graph order
  size_t main_node = 0;              // of `nodes`, by position: the one that gives the row its name
  std::vector<size_t> folded_nodes;  // in the order of the call's handles
  std::vector<std::string> inferred_ops;       // kInferred: names in place of `nodes` ...
  std::vector<std::string> inferred_folds;     // ... and of `folded_nodes`
  std::vector<etrecord::DebugHandle> handles;  // own, then folded
  bool is_inserted = false;                    // layout change
  bool is_of_whole_call = false;               // kInferred: `nodes` are all that the call took
  std::optional<size_t> serves;                // row, if is_inserted
};

struct CallSource {
  std::string delegate;
  std::string_view derived_times;  // of the call's plan
  std::vector<size_t> nodes;       // all that the call took, in graph order
};

struct SourceJoin {
  std::vector<RowSource> rows;          // parallel to the trace's
  std::map<int32_t, CallSource> calls;  // by instruction
  std::vector<std::string> notes;
};

// `method` may be null. Rules (docs/formats/etdump.md, "Joining"):
// - a row's nodes are those that have one of its handles; several rows may share a handle;
// - a node that a delegate took but that no row names is folded into exactly one row of that call:
//   the one that the call's plan names, else the nearest in the graph, inputs first;
// - operators of a call of which none has a known identifier are matched with the call's nodes by
//   kernel name, in order (order_match.h); those without a match have all nodes of the call;
// - an inserted layout change serves the operator that the plan names, else the next, else the one
//   before.
SourceJoin join_sources(const MergedTrace& trace, const etrecord::MethodRecord* method,
                        DelegateProfiles delegates);

}  // namespace vitrine::inspector
