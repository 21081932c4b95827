#include "backends/profiles/foreign_profiles.h"

namespace vitrine {
namespace {

using inspector::DeviceQueue;
using inspector::EventMeaning;
using inspector::OperatorIdentity;
using Kind = EventMeaning::Kind;

constexpr DeviceQueue kAccelerator = {.name = "QNN accelerator",
                                      .is_time = false,
                                      .is_ordered = false,
                                      .about = "cycles of the accelerator"};

constexpr std::string_view kCycles = " (cycles)";
constexpr std::string_view kOpId = "OpId_";

bool is_operator(std::string_view name) {
  return name.ends_with(kCycles) && name.find(kOpId) != name.npos;
}

class QnnProfile final : public inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return "QnnBackend"; }
  std::string_view name() const override { return "QNN"; }
  std::string_view short_name() const override { return "qnn"; }

  bool recognizes(const etdump::ProfileEvent& event) const override {
    return is_operator(event.delegate_debug_name);
  }

  // The events of operators and inputs have names such as "aten_add_tensor:OpId_61 (cycles)" and
  // "Input OpId_2 (cycles)". All other events measure the whole call, and their names contain the
  // units.
  EventMeaning interpret(const etdump::ProfileEvent& event) const override {
    const std::string_view name = event.delegate_debug_name;
    EventMeaning meaning;
    if (!is_operator(name)) {
      meaning.kind = Kind::kFigure;
      meaning.phase = name;
      return meaning;
    }
    meaning.queue = &kAccelerator;
    meaning.identifier = name.substr(0, name.size() - kCycles.size());
    meaning.kernel = meaning.identifier.substr(0, meaning.identifier.find(':'));
    if (name.starts_with("Input ")) {
      meaning.kind = Kind::kPhase;
      meaning.phase = "input";
    }
    return meaning;
  }

  OperatorIdentity identify(int32_t, std::string_view name) const override {
    return {.kind = OperatorIdentity::Kind::kMapped,
            .node = std::string(name.substr(0, name.find(':')))};
  }
};

}  // namespace

const inspector::DelegateProfile& qnn_profile() {
  static const QnnProfile profile;
  return profile;
}

}  // namespace vitrine
