#include "backends/profiles/foreign_profiles.h"

#include <algorithm>
#include <iterator>

namespace vitrine {
namespace {

using inspector::EventMeaning;
using Kind = EventMeaning::Kind;

struct Phase {
  std::string_view event, name;
  Kind kind = Kind::kPhase;
  bool covers_call = false;
};
constexpr Phase kPhases[] = {{"VGF_EXECUTE", "", Kind::kOverlapping},
                             {"VGF_COPY_INPUTS", "copy in"},
                             {"VGF_DISPATCH_AND_WAIT", "run graph", Kind::kPhase, true},
                             {"VGF_QUEUE_SUBMIT_AND_WAIT_FENCE", "", Kind::kOverlapping},
                             {"VGF_TIMESTAMP_QUERY_READBACK", "", Kind::kOverlapping},
                             {"VGF_NEURAL_STATISTICS", "statistics"},
                             {"VGF_COPY_OUTPUTS", "copy out"}};

class VgfProfile final : public inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return "VgfBackend"; }
  std::string_view name() const override { return "VGF"; }
  std::string_view short_name() const override { return "vgf"; }

  bool recognizes(const etdump::ProfileEvent& event) const override {
    return event.delegate_debug_name.starts_with("VGF_");
  }

  EventMeaning interpret(const etdump::ProfileEvent& event) const override {
    EventMeaning meaning;
    const auto* phase = std::ranges::find(kPhases, event.delegate_debug_name, &Phase::event);
    if (phase == std::end(kPhases)) return meaning;
    meaning.kind = phase->kind;
    meaning.phase = phase->name;
    meaning.covers_call = phase->covers_call;
    meaning.kernel = phase->event;  // replaces the metadata, which can be a whole document
    return meaning;
  }
};

}  // namespace

const inspector::DelegateProfile& vgf_profile() {
  static const VgfProfile profile;
  return profile;
}

}  // namespace vitrine
