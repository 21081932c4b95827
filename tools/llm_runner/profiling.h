// Profiles the runs of llm_runner and reports them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tools/common/session.h"
#include "tools/llm_runner/options.h"
#include "tools/llm_runner/profile/token_comparison.h"
#include "tools/llm_runner/profile/token_profiler.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// Compares the two profiles of options.compare. Returns the exit code. Throws HostError.
int compare_saved(const LlmOptions& options);

class RunnerProfile {
 public:
  // Returns null unless the options ask for a profile or a trace.
  static std::unique_ptr<RunnerProfile> make(const LlmOptions& options);
  // Reads the profile of --compare, if any. Throws HostError if the profile cannot be read.
  explicit RunnerProfile(const LlmOptions& options);

  llm::TokenProfiler& profiler() { return profiler_; }
  // Reports the steps since the profiler was attached. `methods[i]` must be the method of
  // `profiler().tracer(i)`. `init_ns` is the time to load the methods. Returns the exit code.
  int report(const Session& session, const std::vector<std::unique_ptr<Method>>& methods,
             const DecoderInfo& info, uint64_t init_ns);

 private:
  const LlmOptions& options_;
  llm::TokenProfiler profiler_;
  std::optional<llm::SavedTokens> baseline_;  // side A of --compare
};

}  // namespace vitrine::tools
