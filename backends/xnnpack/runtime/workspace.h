// Memory for intermediate values, and which delegates share it.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "backends/xnnpack/runtime/handles.h"
#include "backends/xnnpack/runtime/options.h"

namespace vitrine::xnnpack {

// Growing a workspace moves the values of all runtimes in it: whoever makes, reshapes, runs or
// deletes one of them holds the mutex.
struct Workspace {
  std::mutex mutex;
  WorkspaceHandle handle;

  // 0 if this build cannot tell. The mutex is held.
  size_t bytes() const;
};

// Thread-safe. Workspaces live as long as somebody holds them.
class Workspaces {
 public:
  // `program` tells programs apart, as in BackendInitContext; without one nothing is shared with
  // it.
  Result<std::shared_ptr<Workspace>> get(WorkspaceSharing sharing, const void* program);

 private:
  std::mutex mutex_;
  std::map<const void*, std::weak_ptr<Workspace>> shared_;
};

}  // namespace vitrine::xnnpack
