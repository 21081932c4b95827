// The cost of a row: FLOPs and bytes, from the shapes and dtypes of the edge program.
//
// FLOPs are counted by the operator table (operators/flops.h). Bytes are those of the tensors that
// enter and leave the row, each once: what a perfect cache would leave. Ops that were folded into a
// row cost nothing themselves (a batch norm is part of the convolution's weights), but tensors go
// in and out where the folded ops take and give them. A batch norm's parameters do not count then.
#pragma once

#include <optional>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/profile.h"
#include "inspector/join/source_join.h"

namespace vitrine::inspector {

// For one execution of the node alone. Unset without static shapes, or if the operator table has no
// rule for it.
std::optional<double> flops_of(const etrecord::EdgeNode& node, const etrecord::EdgeGraph& graph);

// For one call of each row, parallel to `rows`. Unset for rows without nodes, for rows that share
// nodes and cannot be distinguished, and for inferred rows of whole calls.
std::vector<std::optional<Cost>> row_costs(const std::vector<RowSource>& rows,
                                           const etrecord::EdgeGraph& graph);

}  // namespace vitrine::inspector
