// Computes the cost of a row (FLOPs and bytes) from the shapes and dtypes of the edge program.
//
// The operator table counts FLOPs (operators/flops.h). The bytes are those of all tensors that
// enter or leave the row, each counted once. Ops that were folded into a row add no FLOPs (a batch
// norm is part of the convolution's weights), but their inputs and results count as inputs and
// results of the row. The parameters of a folded batch norm do not count.
#pragma once

#include <optional>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/profile.h"
#include "inspector/join/source_join.h"

namespace vitrine::inspector {

// Returns the FLOPs of one execution of the node. Unset without static shapes, or if the operator
// table has no rule for the operator.
std::optional<double> flops_of(const etrecord::EdgeNode& node, const etrecord::EdgeGraph& graph);

// Returns the cost of one call of each row, parallel to `rows`. Unset for rows without nodes, for
// rows that share nodes and cannot be told apart, and for rows that got all ops of a delegate call.
std::vector<std::optional<Cost>> row_costs(const std::vector<RowSource>& rows,
                                           const etrecord::EdgeGraph& graph);

// True if a row is clearly faster than the machine's measured limit. The measured limit is then too
// low, because other programs slowed down its measurement.
bool beats_limits(const Profile& profile);

// The shortest time in which this machine could do the work (arithmetic or memory traffic,
// whichever takes longer) divided by the measured time. Above 1 if data stays in caches. Unset if
// the limit was not measured, as for arithmetic in dtypes other than float32.
std::optional<double> share_of_limits(const Cost& cost, double ns, const MachineLimits& limits);

}  // namespace vitrine::inspector
