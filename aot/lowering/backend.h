// The ahead-of-time half of a backend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

struct PreprocessResult {
  std::vector<std::byte> processed_bytes;  // the payload for the run-time half
  DelegateMap delegate_map;
  std::vector<NamedData> named_data;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string id() const = 0;  // as programs name it
  // How many bytes its delegates may read past the end of an input. Memory plans leave them room.
  virtual uint64_t input_padding() const { return 0; }
  // `program` is the backend's own copy and may be changed. AotErrors name the node.
  virtual PreprocessResult preprocess(ExportedProgram& program,
                                      std::span<const CompileSpec> compile_specs) const = 0;
};

}  // namespace vitrine::aot
