#include "tools/common/backends.h"

#include "api/builtin.h"
#include "tools/common/tool_error.h"
#include "vitrine/extension.h"

namespace vitrine::tools {
namespace {

BackendRegistry& known_backends() {
  static BackendRegistry known = builtin_backends();
  return known;
}

}  // namespace

void add_backend(const BackendInterface& backend) { check(known_backends().add(&backend)); }

void load_extension(const std::string& path) {
  BackendRegistry& known =
      known_backends();  // made before the library is added to builtin_backends()
  for (const BackendInterface* backend : check(load_library(path.c_str()))->backends) {
    check(known.add(backend));
  }
}

const BackendRegistry& all_backends() { return known_backends(); }

}  // namespace vitrine::tools
