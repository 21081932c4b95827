// A program of the suite, loaded with inputs.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/results.h"
#include "bench/suite/interleave.h"
#include "host/session.h"

namespace vitrine::bench {

struct ProgramUse {
  std::filesystem::path file;
  bool optimized_kernels = true;
  bool positive_inputs = false;  // floats in [0.1, 1.1), for logarithms and roots
};

class LoadedProgram {
 public:
  // Inputs are random, the same for each program with the same inputs.
  LoadedProgram(const ProgramUse& use, std::shared_ptr<ThreadPool> pool,
                EventTracer* tracer = nullptr);

  // Must live as long as the side.
  Side side();
  void set_inputs();
  void execute();
  Method& method() { return *method_; }
  const Program& program() const { return *session_.program(); }
  const tools::Session& session() const { return session_; }
  void count(bench::Result& result) const;  // what the program has of calls and memory
  double argument_bytes() const;            // of inputs and outputs
  // One delegate and nothing else.
  bool is_one_delegate() const;

 private:
  tools::Session session_;
  std::unique_ptr<Method> method_;
  std::vector<Array> inputs_;
};

// Signal to noise of the outputs, in dB; infinite for equal ones. Unset, with the reason, if they
// cannot be compared. Both must have been executed.
std::optional<double> agreement(const Method& reference, const Method& other, std::string& why_not);

}  // namespace vitrine::bench
