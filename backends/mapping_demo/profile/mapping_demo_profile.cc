#include "backends/mapping_demo/profile/mapping_demo_profile.h"

#include <algorithm>

#include "backends/mapping_demo/format/operators.h"

namespace vitrine {
namespace {

// Identifiers are those of the delegate map, which is what DelegateProfile assumes. Names serve
// where the record has no map.
class MappingDemoProfile final : public inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return mapping_demo::kBackendId; }
  bool may_run(std::string_view kernel, std::string_view op) const override {
    return std::ranges::any_of(
        mapping_demo::kOperators, [&](const mapping_demo::OperatorRow& known) {
          return known.name == kernel && std::ranges::count(known.ops, op) != 0;
        });
  }
};

}  // namespace

const inspector::DelegateProfile& mapping_demo_profile() {
  static const MappingDemoProfile profile;
  return profile;
}

}  // namespace vitrine
