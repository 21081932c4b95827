// Finds the payload's operators for which Vulkan logged dispatches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/profiles/vulkan_dispatch.h"
#include "inspector/join/delegate_profile.h"

namespace vitrine::vulkan {

// Returns the payload's operator for each event. `payload` has the names of the payload's
// operators. If it is empty because the names are unknown, operators are numbered in the order of
// their ids. The result is empty for an event whose operator has another name in the payload.
std::vector<std::optional<inspector::PayloadOperator>> payload_positions(
    std::span<const DispatchEvent> events, std::span<const std::string> payload);

}  // namespace vitrine::vulkan
