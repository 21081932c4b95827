#include "demo_backend/profile.h"

#include <algorithm>

#include "demo_backend/format.h"

namespace demo {
namespace {

// The default identify() is right, because the demo's identifiers are keys of the delegate map.
// Without a delegate map, reports use the operators' names.
class DemoProfile final : public vitrine::inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return kBackendId; }
  std::string_view name() const override { return "demo backend"; }
  std::string_view short_name() const override { return "demo"; }
  bool may_run(std::string_view kernel, std::string_view op) const override {
    return std::ranges::any_of(kOperators, [&](const OperatorRow& row) {
      return row.name == kernel && std::ranges::count(row.ops, op) != 0;
    });
  }
};

}  // namespace

const vitrine::inspector::DelegateProfile& profile() {
  static const DemoProfile demo;
  return demo;
}

}  // namespace demo
