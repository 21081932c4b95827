#include "inspector/join/delegate_profile.h"

#include <algorithm>

namespace vitrine::inspector {
namespace {

template <class Predicate>
const DelegateProfile* first_profile(DelegateProfiles profiles, Predicate&& predicate) {
  const auto found = std::ranges::find_if(profiles, predicate);
  return found == profiles.end() ? nullptr : *found;
}

}  // namespace

const DelegateProfile* find_profile(DelegateProfiles profiles, std::string_view backend_id) {
  return first_profile(profiles, [&](const DelegateProfile* profile) {
    return profile->backend_id() == backend_id;
  });
}

const DelegateProfile* recognizing_profile(DelegateProfiles profiles,
                                           const etdump::ProfileEvent& event) {
  return first_profile(profiles,
                       [&](const DelegateProfile* profile) { return profile->recognizes(event); });
}

const DelegateProfile* profile_of_operator_map_event(DelegateProfiles profiles,
                                                     std::string_view event) {
  if (event.empty()) return nullptr;
  return first_profile(profiles, [&](const DelegateProfile* profile) {
    return profile->operator_map_event() == event;
  });
}

bool UnknownDelegate::may_run(std::string_view kernel, std::string_view op) const {
  return std::ranges::any_of(
      described_, [&](const DelegateProfile* profile) { return profile->may_run(kernel, op); });
}

bool UnknownDelegate::may_be_layout_change(std::string_view kernel) const {
  return std::ranges::any_of(described_, [&](const DelegateProfile* profile) {
    return profile->may_be_layout_change(kernel);
  });
}

}  // namespace vitrine::inspector
