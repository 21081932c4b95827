// Matches the operators of a delegate's payload with the nodes of the edge graph, for delegates
// whose events name operators of the payload. The payload has no debug handles. Its operators have
// the order and usually the names of the edge graph's nodes, so they are matched by name and order
// (order_match.h).
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
  // The payload operator of each row. Empty if the events do not name operators of the payload.
  std::vector<std::optional<PayloadOperator>> operators;
  std::vector<std::optional<size_t>> nodes;  // node of each row, as an index into the graph
  // Nodes without an operator, each with the row into which it is folded (an index into the
  // argument `rows`). This is the row of the nearest node with an operator. The search goes toward
  // inputs first; for a dequantization, it goes toward users first.
  std::vector<std::pair<size_t, size_t>> folds;
};

// Joins the rows of one delegate call. `content` describes the delegate in the program, or is null.
// `nodes` are the delegate's nodes in graph order.
PayloadJoin join_payload(const MergedTrace& trace, const std::vector<size_t>& rows,
                         const ProgramDelegate* content, const std::vector<size_t>& nodes,
                         const etrecord::EdgeGraph& graph, const DelegateProfile& profile);

}  // namespace vitrine::inspector
