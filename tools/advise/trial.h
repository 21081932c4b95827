// Runs two programs alternately and predicts the ratio of their times.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/advise/advice.h"
#include "tools/common/interval.h"
#include "tools/executor_runner/inputs.h"
#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// `bytes` must outlive every LoadedProgram that uses the bytes.
struct RunnableProgram {
  std::span<const std::byte> bytes;  // empty: the file of RunnerOptions::model
  size_t threads = 0;
};

// Thread pools by number of threads. Programs share pools, because idle workers of a second pool
// would disturb runs.
class Pools {
 public:
  std::shared_ptr<ThreadPool> get(size_t threads);

 private:
  std::map<size_t, std::shared_ptr<ThreadPool>> pools_;
};

class LoadedProgram {
 public:
  // Loads the program and copies `inputs`. Throws ToolError.
  LoadedProgram(const RunnableProgram& program, const RunnerOptions& options, Pools& pools,
                const InputSet& inputs);
  // Runs the program `count` times and returns the mean time in ns.
  double run(size_t count);
  const Method& method() const { return *method_; }
  double load_ns() const { return load_ns_; }
  const ThreadPool* pool() const { return session_->pool().get(); }

 private:
  std::unique_ptr<Session> session_;
  std::unique_ptr<Method> method_;
  std::optional<InputSet> inputs_;
  const RunnerOptions& options_;
  double load_ns_ = 0;
};

struct TrialResult {
  std::vector<double> blocks;  // median ratio B / A of each block of pairs
  size_t pairs = 0;
  double a_ns = 0, b_ns = 0;  // medians
  OutputChange outputs;
  double memory_change = 0;  // bytes that B needs more than A, without weights in the file

  Interval ratio() const { return predict_ratio(blocks); }
};

double memory_of(const Method& method);

// Runs A and B on the same inputs, in at least six pairs of random order, for about `seconds`. The
// pairs are run in blocks. If loading is quick, both programs are loaded again for each block, so
// that addresses of data vary. Ctrl-C ends the trial after a pair. Throws ToolError if a program
// cannot run.
TrialResult run_trial(const RunnableProgram& a, const RunnableProgram& b,
                      const RunnerOptions& options, Pools& pools, const InputSet& inputs,
                      double seconds);

}  // namespace vitrine::tools
