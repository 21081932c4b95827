#include "test/backends/third_backend/profile.h"

#include <charconv>

#include "test/backends/third_backend/payload_format.h"

namespace third {
namespace {

using vitrine::inspector::OperatorIdentity;

class Profile final : public vitrine::inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return kBackendId; }
  std::string_view name() const override { return "third backend"; }
  std::string_view short_name() const override { return "third"; }
  OperatorIdentity identify(int32_t, std::string_view name) const override {
    using Kind = OperatorIdentity::Kind;
    if (!name.starts_with(kIdentifierPrefix)) return {Kind::kUnknown};
    name.remove_prefix(kIdentifierPrefix.size());
    uint32_t handle = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), handle);
    if (error != std::errc() || end != name.data() + name.size()) return {Kind::kUnknown};
    return {Kind::kDebugHandle, handle};
  }
};

}  // namespace

const vitrine::inspector::DelegateProfile& profile() {
  static const Profile third;
  return third;
}

}  // namespace third
