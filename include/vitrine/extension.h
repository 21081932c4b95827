// Loads shared libraries with operators and backends that this build lacks.
//
// A library exports one function, which VITRINE_EXTENSION defines:
//
//   constexpr const vitrine::Kernel* kTable[] = {&kernel_my_op};
//   constinit const vitrine::Extension kExtension = {.name = "my_ops", .kernels = kTable};
//   VITRINE_EXTENSION(kExtension)
//
// The library links the CMake component `runtime` (examples/custom_op). The library and the program
// that loads it must be built with headers of the same minor version and the same C++ ABI.
#pragma once

#include <cstdint>
#include <span>

#include "vitrine/backend.h"
#include "vitrine/error.h"
#include "vitrine/kernel_registry.h"
#include "vitrine/version.h"

namespace vitrine {

// The operators and backends of a library. All pointers must stay valid until the process ends.
struct Extension {
  uint32_t version = VITRINE_VERSION_NUMBER;  // version of the headers; must be the first member
  const char* name = "";                      // name of the kernel table in traces: "my_ops"
  KernelTable kernels = {};
  std::span<const BackendInterface* const> backends = {};
};

// Loads a library and adds its operators and backends for Module, the C API and the tools. An
// operator that this build already has keeps its kernel. `path` without a slash is a file in the
// current folder. Call this before programs are loaded, in one thread. The library stays loaded
// until the process ends. A library runs code in this process: load only libraries that you trust.
//
// Returns AccessFailed if the library cannot be loaded, NotSupported if it is not an extension or
// has another version, and RegistrationAlreadyRegistered for a second backend with the same id.
Result<const Extension*> load_library(const char* path);

}  // namespace vitrine

// Defines the function that load_library() calls. `extension` must be a static constant.
#define VITRINE_EXTENSION(extension)                                                             \
  extern "C" __attribute__((visibility("default"))) const vitrine::Extension* vitrine_extension( \
      void) {                                                                                    \
    return &(extension);                                                                         \
  }
