// The profile of llm_runner: what is traced, and its report.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "host/session.h"
#include "llm/profile/token_comparison.h"
#include "llm/profile/token_profiler.h"
#include "tools/llm_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// The report of options.compare, two saved profiles. Throws HostError.
void compare_saved(const LlmOptions& options);

class RunnerProfile {
 public:
  // Null if no profile or trace is wanted.
  static std::unique_ptr<RunnerProfile> make(const LlmOptions& options);
  // Throws HostError if the profile to compare with cannot be read.
  explicit RunnerProfile(const LlmOptions& options);

  llm::TokenProfiler& profiler() { return profiler_; }
  // Reports the steps since the profiler was attached to these methods, in the order of its
  // tracers. `init_ns` is how long they took to load.
  void report(const Session& session, const std::vector<std::unique_ptr<Method>>& methods,
              const DecoderInfo& info, uint64_t init_ns);

 private:
  const LlmOptions& options_;
  llm::TokenProfiler profiler_;
  std::optional<llm::SavedTokens> before_;  // to compare with
};

}  // namespace vitrine::tools
