// Maps the dispatches in Vulkan's log to the operators of a payload.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/profiles/vulkan_dispatch.h"
#include "inspector/join/delegate_profile.h"

namespace vitrine::vulkan {

// Returns the payload's operator for each event. The element is nullopt for a copy between layouts,
// and for an event whose id and operator name match no operator. `payload` lists the payload's
// operator names. An empty `payload` means that the names are unknown. Operators are then numbered
// in the order of their ids.
std::vector<std::optional<inspector::PayloadOperator>> payload_positions(
    std::span<const DispatchEvent> events, std::span<const std::string> payload);

}  // namespace vitrine::vulkan
