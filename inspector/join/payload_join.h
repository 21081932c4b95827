// Matches the operators of a delegate's payload with the nodes of the edge graph, for delegates
// whose events name operators of the payload.
//
// The payload's graph was rewritten when it was made, so it has no debug handles. Its operators are
// still in the order of the nodes, and most have their names (order_match.h).
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/delegate_profile.h"
#include "inspector/join/trace_rows.h"

namespace vitrine::inspector {

struct PayloadJoin {
  // Parallel to the rows; empty if the events do not name operators of the payload.
  std::vector<std::optional<PayloadOperator>> operators;
  std::vector<std::optional<size_t>> nodes;  // of each row; an index into the graph
  // Nodes without an operator, each with the position in `rows` of the row that runs the nearest
  // node with one: through inputs, else through users. Dequantizations belong to their users first.
  std::vector<std::pair<size_t, size_t>> folds;
};

// `rows` are the rows of one call, `content` is the delegate in the program or null, and `nodes`
// are the nodes of the delegate in graph order.
PayloadJoin join_payload(const MergedTrace& trace, const std::vector<size_t>& rows,
                         const ProgramDelegate* content, const std::vector<size_t>& nodes,
                         const etrecord::EdgeGraph& graph, const DelegateProfile& profile);

}  // namespace vitrine::inspector
