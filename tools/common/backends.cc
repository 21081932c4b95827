#include "tools/common/backends.h"

#include <vector>

#include "api/builtin.h"
#include "backends/profiles/foreign_profiles.h"
#include "backends/profiles/xnnpack_profile.h"
#include "tools/common/tool_error.h"
#include "vitrine/extension.h"

namespace vitrine::tools {
namespace {

struct KnownBackends {
  BackendRegistry backends = builtin_backends();
  std::vector<const inspector::DelegateProfile*> profiles = {
      &xnnpack_profile(), &vulkan_profile(),  &core_ml_profile(), &qnn_profile(),
      &neutron_profile(), &ethos_u_profile(), &vgf_profile()};
};

KnownBackends& known_backends() {
  static KnownBackends known;
  return known;
}

}  // namespace

void add_backend(const BackendInterface& backend, const inspector::DelegateProfile& profile) {
  check(known_backends().backends.add(&backend));
  known_backends().profiles.push_back(&profile);
}

void load_extension(const std::string& path) {
  KnownBackends& known =
      known_backends();  // made before the library is added to builtin_backends()
  for (const BackendInterface* backend : check(load_library(path.c_str()))->backends) {
    check(known.backends.add(backend));
  }
}

const BackendRegistry& all_backends() { return known_backends().backends; }

inspector::DelegateProfiles all_delegate_profiles() { return known_backends().profiles; }

}  // namespace vitrine::tools
