#include "backends/profiles/foreign_profiles.h"

namespace vitrine {
namespace {

using inspector::EventMeaning;

constexpr std::string_view kExecute = "EthosUBackend::execute()";

class EthosUProfile final : public inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return "EthosUBackend"; }
  std::string_view name() const override { return "Ethos-U"; }
  std::string_view short_name() const override { return "ethos-u"; }

  // The events of Ethos-U have names, such as "+EthosUBackend::execute()NPU", but no identifiers.
  bool recognizes(const etdump::ProfileEvent& event) const override {
    return event.name.find(kExecute) != std::string_view::npos;
  }

  EventMeaning interpret(const etdump::ProfileEvent& event) const override {
    EventMeaning meaning;
    const size_t at = event.name.find(kExecute);
    if (at == std::string_view::npos) return meaning;
    const std::string_view phase = event.name.substr(at + kExecute.size());
    meaning.kind = phase.empty() ? EventMeaning::Kind::kOverlapping : EventMeaning::Kind::kPhase;
    meaning.covers_call = phase == "NPU";
    meaning.phase = phase;
    meaning.identifier = phase;
    return meaning;
  }
};

}  // namespace

const inspector::DelegateProfile& ethos_u_profile() {
  static const EthosUProfile profile;
  return profile;
}

}  // namespace vitrine
