// Profiles as the tools make them: with what this tree's backends say of their delegates.
#pragma once

#include <array>

#include "backends/mapping_demo/profile/mapping_demo_profile.h"
#include "backends/xnnpack/profile/xnnpack_profile.h"
#include "inspector/join/make_profile.h"

namespace vitrine::test {

inline inspector::DelegateProfiles known_delegates() {
  static const std::array profiles = {&xnnpack_profile(), &mapping_demo_profile()};
  return profiles;
}

inline inspector::Profile joined_profile(const etdump::EtDump& trace,
                                         const etrecord::EtRecord* record,
                                         inspector::ProfileOptions options = {}) {
  options.delegates = known_delegates();
  return inspector::make_profile(trace, record, options);
}

}  // namespace vitrine::test
