#include "backends/profiles/foreign_profiles.h"

#include <algorithm>

namespace vitrine {
namespace {

using inspector::DeviceQueue;
using inspector::EventMeaning;
using inspector::OperatorIdentity;

constexpr DeviceQueue kEstimate = {
    .name = "Core ML (estimated)",
    .is_ordered = false,
    .about = "estimated from Core ML's cost weights; only the whole call was measured"};

// Returns the MIL operator of "<first output>:ios17.conv" without its opset: "conv".
std::string_view mil_operator(std::string_view symbol) {
  symbol.remove_prefix(symbol.rfind(':') + 1);  // npos + 1 is 0
  const size_t dot = symbol.find('.');
  const bool has_opset =
      symbol.starts_with("ios") && dot != symbol.npos && dot > 3 &&
      symbol.substr(3, dot - 3).find_first_not_of("0123456789") == std::string_view::npos;
  return has_opset ? symbol.substr(dot + 1) : symbol;
}

// Returns the value of a string member of the event's JSON, such as "NE".
std::string_view text_member(std::string_view json, std::string_view key) {
  const size_t at = json.find(key);
  if (at == json.npos) return {};
  json.remove_prefix(at + key.size());
  const size_t begin = json.find('"');
  if (begin == json.npos) return {};
  json.remove_prefix(begin + 1);
  return json.substr(0, std::min(json.find('"'), size_t{16}));
}

class CoreMlProfile final : public inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return "CoreMLBackend"; }
  std::string_view name() const override { return "Core ML"; }
  std::string_view short_name() const override { return "coreml"; }

  bool recognizes(const etdump::ProfileEvent& event) const override {
    return event.is_delegate_event() && event.metadata.find(kUnit) != std::string_view::npos;
  }

  EventMeaning interpret(const etdump::ProfileEvent& event) const override {
    const std::string_view symbol = event.delegate_debug_name;
    EventMeaning meaning;
    meaning.queue = &kEstimate;
    meaning.kernel = mil_operator(symbol);
    if (const std::string_view unit = text_member(event.metadata, kUnit); !unit.empty()) {
      meaning.kernel += std::string(" on ").append(unit);
    }
    // The delegate map's keys do not contain the opset.
    meaning.identifier = std::string(symbol.substr(0, symbol.rfind(':') + 1));
    meaning.identifier += mil_operator(symbol);
    return meaning;
  }

  OperatorIdentity identify(int32_t, std::string_view name) const override {
    return {.kind = OperatorIdentity::Kind::kMapped,
            .node = std::string(name.substr(0, name.rfind(':')))};
  }

 private:
  static constexpr std::string_view kUnit = "\"preferredComputeUnit\":";
};

}  // namespace

const inspector::DelegateProfile& core_ml_profile() {
  static const CoreMlProfile profile;
  return profile;
}

}  // namespace vitrine
