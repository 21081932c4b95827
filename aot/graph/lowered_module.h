// A part of a program that a backend has compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// An option for a backend, besides the graph. The program stores it; the run-time half gets it too.
struct CompileSpec {
  std::string key;
  std::vector<std::byte> value;
  friend bool operator==(const CompileSpec&, const CompileSpec&) = default;
};

// Identifiers that a delegate logs at run time -> debug handles of the nodes they stand for,
// ascending. In the order of the backend's entries.
using DelegateIdentifier = std::variant<uint32_t, std::string>;
using DelegateMap = std::vector<std::pair<DelegateIdentifier, std::vector<uint32_t>>>;

// Bytes that a delegate finds by name at run time, apart from its payload.
struct NamedData {
  std::string key;
  std::shared_ptr<const std::vector<std::byte>> bytes;
  size_t alignment = 16;     // in bytes, a power of two
  std::string external_tag;  // of the .ptd that stores it; empty: the program
};

// ExecuTorch's LoweredBackendModule. A graph holds it under the name that a get_attr node names and
// calls it by the higher-order operator executorch_call_delegate, whose first argument is that
// node.
struct LoweredBackendModule {
  std::string backend_id;
  std::shared_ptr<const std::vector<std::byte>> processed_bytes;
  std::vector<CompileSpec> compile_specs;
  ExportedProgram original;  // the backend's input, with the weights that it consumed
  DelegateMap delegate_map;
  std::vector<NamedData> named_data;
  uint64_t input_padding = 0;  // bytes that the delegate may read past the end of an input
};

}  // namespace vitrine::aot
