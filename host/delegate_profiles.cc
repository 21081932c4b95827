#include "host/delegate_profiles.h"

#include <array>

#include "backends/mapping_demo/profile/mapping_demo_profile.h"
#include "backends/xnnpack/profile/xnnpack_profile.h"

namespace vitrine::tools {

inspector::DelegateProfiles all_delegate_profiles() {
  static const std::array profiles = {&xnnpack_profile(), &mapping_demo_profile()};
  return profiles;
}

}  // namespace vitrine::tools
