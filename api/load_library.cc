#include <dlfcn.h>

#include <climits>
#include <cstdio>
#include <cstring>

#include "api/builtin.h"
#include "vitrine/extension.h"

namespace vitrine {
namespace {

constexpr uint32_t kPatches = 100;  // patch versions per minor version

}  // namespace

Result<const Extension*> load_library(const char* path) {
  // dlopen() would search the system's folders for a name without a slash.
  char file[PATH_MAX];
  std::snprintf(file, sizeof file, "%s%s", std::strchr(path, '/') == nullptr ? "./" : "", path);
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error::make(ErrorCode::kAccessFailed, "cannot load the library: %s", dlerror());
  }
  using Function = const Extension* (*)();
  const auto function = reinterpret_cast<Function>(dlsym(library, "vitrine_extension"));
  if (function == nullptr) {
    return Error::make(ErrorCode::kNotSupported,
                       "%s: the library does not export vitrine_extension(): define it with "
                       "VITRINE_EXTENSION (vitrine/extension.h)",
                       path);
  }
  const Extension& extension = *function();
  if (extension.version / kPatches != VITRINE_VERSION_NUMBER / kPatches) {
    return Error::make(ErrorCode::kNotSupported,
                       "%s: the library was built with headers of version %u, but the runtime has "
                       "version %u: rebuild the library",
                       path, extension.version, static_cast<unsigned>(VITRINE_VERSION_NUMBER));
  }
  Error error = add_extension(extension);
  if (!error.ok()) return std::move(error).in("%s", path);
  return &extension;
}

}  // namespace vitrine
