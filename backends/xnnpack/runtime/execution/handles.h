// Defines owning pointers to XNNPACK's objects.
#pragma once

#include <xnnpack.h>

#include <memory>

namespace vitrine::xnnpack {

template <class T, xnn_status (*kDelete)(T*)>
struct Deleter {
  void operator()(T* object) const { kDelete(object); }
};

using SubgraphHandle = std::unique_ptr<xnn_subgraph, Deleter<xnn_subgraph, xnn_delete_subgraph>>;
using RuntimeHandle = std::unique_ptr<xnn_runtime, Deleter<xnn_runtime, xnn_delete_runtime>>;
// An XNNPACK runtime keeps a reference to its workspace. Several runtimes may share a workspace if
// they run one at a time.
using WorkspaceHandle =
    std::unique_ptr<xnn_workspace, Deleter<xnn_workspace, xnn_release_workspace>>;

// Returns a description of the status, such as "invalid parameter".
const char* status_text(xnn_status status);

}  // namespace vitrine::xnnpack
