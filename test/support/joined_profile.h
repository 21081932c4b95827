// Makes profiles for tests. Uses the delegate profiles of all backends, as the tools do.
#pragma once

#include <array>

#include "backends/profiles/xnnpack_profile.h"
#include "demo_backend/profile.h"
#include "inspector/join/make_profile.h"

namespace vitrine::test {

inline inspector::DelegateProfiles known_delegates() {
  static const std::array profiles = {&xnnpack_profile(), &demo::profile()};
  return profiles;
}

inline inspector::Profile joined_profile(const etdump::EtDump& trace,
                                         const etrecord::EtRecord* record,
                                         inspector::ProfileOptions options = {}) {
  options.delegates = known_delegates();
  return inspector::make_profile(trace, record, options);
}

}  // namespace vitrine::test
