// Finds how much memory a program's delegates need, without running the program.
//
// The backends of this build load each payload and plan its memory. The figures depend on the
// processor, because the layout of packed weights does.
#pragma once

#include <memory>

#include "runtime/program/program_access.h"
#include "tools/pte_inspect/description.h"
#include "vitrine/backend.h"
#include "vitrine/budget.h"
#include "vitrine/named_data.h"
#include "vitrine/program.h"
#include "vitrine/thread_pool.h"

namespace vitrine::tools {

class DelegatePreparer {
 public:
  // `program` and `external`, which may be null, must outlive this object. Throws ToolError if the
  // thread pool cannot be created.
  DelegatePreparer(const Program& program, const NamedDataMap* external);

  // Returns the memory of the method's loaded delegates: {"how": "prepared on this machine",
  // "threads": 2, "packed_weights_bytes": 4608, "workspace_bytes": 384, "constants_bytes": 0,
  // "unknown": []}. "unknown" lists the delegates that the figures leave out, with reasons:
  // "delegate 1: this build lacks VulkanBackend". All methods of a program share limits
  // on memory and work (docs/trust.md).
  Json prepare(const schema::program::ExecutionPlan& plan);

 private:
  std::unique_ptr<Delegate> load(const schema::program::BackendDelegate& delegate,
                                 bool has_fixed_sizes);

  const Program& program_;
  MergedNamedData data_;
  std::unique_ptr<ThreadPool> pool_;
  Budget memory_;
  Budget steps_;
};

}  // namespace vitrine::tools
