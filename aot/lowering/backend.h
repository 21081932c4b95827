// Interface of the ahead-of-time side of a backend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

struct PreprocessResult {
  std::vector<std::byte> payload;  // input of the run-time side
  DelegateMap delegate_map;
  std::vector<NamedData> named_data;
  // Sizes in bytes of the planned memory that each call of the delegate gets
  // (BackendExecutionContext::scratch). Runtimes before ExecuTorch 1.6 ignore it.
  std::vector<uint64_t> scratch_sizes = {};
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string id() const = 0;  // the backend id in programs
  // Number of bytes that the backend's delegates may read past the end of an input. Memory plans
  // reserve them.
  virtual uint64_t input_padding() const { return 0; }
  // Compiles `program`, which is a copy for this call and may be changed. Throws AotErrors that
  // name the node.
  virtual PreprocessResult preprocess(ExportedProgram& program,
                                      std::span<const CompileSpec> compile_specs) const = 0;
};

}  // namespace vitrine::aot
