// Computes the FLOPs and bytes of a row from the shapes and dtypes of the edge program.
//
// The operator table counts FLOPs (operators/flops.h). Bytes are those of all tensors that enter or
// leave the row, each counted once. Ops that were folded into a row do not add FLOPs, but their
// inputs and results count as inputs and results of the row. The parameters of a folded batch norm
// do not count.
#pragma once

#include <optional>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/profile.h"
#include "inspector/join/source_join.h"

namespace vitrine::inspector {

// Returns the FLOPs of one execution of the node. Returns nullopt if a necessary shape is not
// static or if the operator table does not have a rule for the operator.
std::optional<double> flops_of(const etrecord::EdgeNode& node, const etrecord::EdgeGraph& graph);

// Returns the cost of one call of each row, parallel to `rows`. The cost is unset if the row has no
// nodes, if another row has the same main node, if all nodes of a delegate call were assigned to
// the row, or if FLOPs or sizes are unknown.
std::vector<std::optional<Cost>> row_costs(const std::vector<RowSource>& rows,
                                           const etrecord::EdgeGraph& graph);

// True if an f32 row ran at clearly more FLOPs per second than the measured limit of the machine.
// The limit is then too low, because other programs disturbed its measurement.
bool beats_limits(const Profile& profile);

// Returns the shortest time that the machine's limits allow, divided by the measured time `ns`. The
// shortest time is that of the arithmetic or of the memory traffic, whichever is longer. The result
// can exceed 1 if data stays in caches. Returns nullopt if a limit was not measured. Only f32
// arithmetic has a measured limit.
std::optional<double> share_of_limits(const Cost& cost, double ns, const MachineLimits& limits);

}  // namespace vitrine::inspector
