#pragma once

#include <string>
#include <vector>

#include "inspector/report/graph_picture.h"

namespace vitrine::inspector {

// Compares the pictures of two programs of one model. Nodes with source ops are aligned by source
// op and module. If several nodes of a program have the same source op and module, the k-th node of
// A is aligned with the k-th node of B. Sets `partner` to the aligned node of the other picture.
// Sets `change` to "same", "delegated only here", "not delegated here", "different backend", "fused
// differently", "fused in the other program's delegate" or "absent in the other program". Returns a
// summary of each picture.
std::vector<std::string> mark_changes(GraphPicture& a, GraphPicture& b);

}  // namespace vitrine::inspector
