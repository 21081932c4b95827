#include "tools/common/delegate_profiles.h"

#include <vector>

#include "backends/profiles/foreign_profiles.h"
#include "backends/profiles/xnnpack_profile.h"
#include "tools/common/backends.h"

namespace vitrine::tools {
namespace {

std::vector<const inspector::DelegateProfile*>& known_profiles() {
  static std::vector<const inspector::DelegateProfile*> known = {
      &xnnpack_profile(), &vulkan_profile(),  &core_ml_profile(), &qnn_profile(),
      &neutron_profile(), &ethos_u_profile(), &vgf_profile()};
  return known;
}

}  // namespace

void add_backend(const BackendInterface& backend, const inspector::DelegateProfile& profile) {
  add_backend(backend);
  known_profiles().push_back(&profile);
}

inspector::DelegateProfiles all_delegate_profiles() { return known_profiles(); }

}  // namespace vitrine::tools
