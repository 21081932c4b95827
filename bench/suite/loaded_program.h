#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/results.h"
#include "bench/suite/interleave.h"
#include "tools/common/session.h"
#include "vitrine/array.h"

namespace vitrine::bench {

struct ProgramUse {
  std::filesystem::path file;
  bool optimized_kernels = true;
  bool positive_inputs = false;  // float inputs are in [0.1, 1.1), for logarithms and roots
  std::vector<BackendOption> backend_options = {};  // their texts must outlive the program
};

class LoadedProgram {
 public:
  // Makes random inputs. Inputs of the same shapes and dtypes have the same values in all programs.
  LoadedProgram(const ProgramUse& use, std::shared_ptr<ThreadPool> pool,
                EventTracer* tracer = nullptr);

  // This object must outlive the task.
  TimedTask timed_task();
  void set_inputs();
  void execute();
  Method& method() { return *method_; }
  const Program& program() const { return *session_.program(); }
  const tools::Session& session() const { return session_; }
  // Sets the result's counts of instructions, delegates and planned bytes.
  void set_counts(bench::Result& result) const;
  double argument_bytes() const;  // sum for all inputs and outputs
  bool is_one_delegate() const;

 private:
  tools::Session session_;
  std::unique_ptr<Method> method_;
  std::vector<Array> inputs_;
};

// Returns the lowest signal-to-noise ratio of all outputs in dB, or infinity for equal outputs.
// Returns nullopt and sets `why_not` if outputs are not comparable. Both methods must have been
// executed.
std::optional<double> agreement(const Method& reference, const Method& other, std::string& why_not);

}  // namespace vitrine::bench
