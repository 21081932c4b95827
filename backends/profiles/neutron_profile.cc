#include "backends/profiles/foreign_profiles.h"

#include <fmt/format.h>

namespace vitrine {
namespace {

using inspector::DeviceQueue;
using inspector::EventMeaning;

constexpr DeviceQueue kNpu = {.name = "Neutron NPU",
                              .is_time = false,
                              .is_ordered = false,
                              .about = "NPU ticks of unknown length"};

class NeutronProfile final : public inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return "NeutronBackend"; }
  std::string_view name() const override { return "Neutron"; }
  std::string_view short_name() const override { return "neutron"; }

  // The metadata is the number of the kernel. The event of kernel 0 measures the profiler itself.
  EventMeaning interpret(const etdump::ProfileEvent& event) const override {
    EventMeaning meaning;
    meaning.queue = &kNpu;
    if (event.metadata.size() != 1) return meaning;
    const auto function = static_cast<unsigned>(static_cast<unsigned char>(event.metadata[0]));
    if (function == 0) meaning.kind = EventMeaning::Kind::kOverlapping;
    meaning.kernel = fmt::format("Neutron kernel {}", function);
    return meaning;
  }
};

}  // namespace

const inspector::DelegateProfile& neutron_profile() {
  static const NeutronProfile profile;
  return profile;
}

}  // namespace vitrine
