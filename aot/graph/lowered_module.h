// A part of a program, compiled by a backend.
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

// An option for a backend. The backend's runtime receives the option with the payload.
struct CompileSpec {
  std::string key;
  std::vector<std::byte> value;
  friend bool operator==(const CompileSpec&, const CompileSpec&) = default;
};

// Pairs of an identifier that a delegate logs at run time, and the ascending debug handles of the
// nodes that the identifier represents. The backend chooses the order of the pairs.
using DelegateIdentifier = std::variant<uint32_t, std::string>;
using DelegateMap = std::vector<std::pair<DelegateIdentifier, std::vector<uint32_t>>>;

// Bytes outside the payload that a delegate finds by name at run time.
struct NamedData {
  std::string key;
  std::shared_ptr<const std::vector<std::byte>> bytes;
  size_t alignment = 16;     // in bytes, a power of two
  std::string external_tag;  // names the .ptd that stores the bytes; empty: the program stores them
};

// Equivalent to ExecuTorch's LoweredBackendModule. A call to executorch_call_delegate runs the
// module. The call's first argument is a get_attr node that names the module.
struct LoweredBackendModule {
  std::string backend_id;
  std::shared_ptr<const std::vector<std::byte>> payload;
  std::vector<CompileSpec> compile_specs;
  ExportedProgram original;  // the program that the backend compiled, with the weights it consumed
  DelegateMap delegate_map;
  std::vector<NamedData> named_data;
  std::vector<uint64_t> scratch_sizes;  // planned memory that each call gets, in bytes
  uint64_t input_padding = 0;           // bytes that the delegate may read past the end of an input
};

}  // namespace vitrine::aot
