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
// A runtime keeps a reference to its workspace. Runtimes that share a workspace must run one at a
// time.
using WorkspaceHandle =
    std::unique_ptr<xnn_workspace, Deleter<xnn_workspace, xnn_release_workspace>>;

const char* status_text(xnn_status status);

}  // namespace vitrine::xnnpack
