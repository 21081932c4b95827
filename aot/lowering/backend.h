// The interface that backends implement on the ahead-of-time side.
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
  // Sizes in bytes of the scratch buffers of each delegate call (BackendExecutionContext::scratch).
  // Runtimes before ExecuTorch 1.6 ignore these sizes.
  std::vector<uint64_t> scratch_sizes = {};
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string id() const = 0;  // the backend id in programs
  // Returns the number of bytes that delegates may read past the end of an input.
  virtual uint64_t input_padding() const { return 0; }
  // Compiles `program`, a copy that the backend may change. Throws an AotError that names the node
  // if a node cannot be compiled.
  virtual PreprocessResult preprocess(ExportedProgram& program,
                                      std::span<const CompileSpec> compile_specs) const = 0;
};

}  // namespace vitrine::aot
