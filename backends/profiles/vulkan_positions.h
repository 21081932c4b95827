// For each dispatch in Vulkan's log, finds the payload's operator that it belongs to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/profiles/vulkan_dispatch.h"
#include "inspector/join/delegate_profile.h"

namespace vitrine::vulkan {

// Returns the payload's operator for each event. `payload` has the names of the payload's
// operators. If the names are unknown, `payload` is empty, and operators are numbered in the order
// of their ids. The result is empty for an event whose operator name differs from the name in the
// payload.
std::vector<std::optional<inspector::PayloadOperator>> payload_positions(
    std::span<const DispatchEvent> events, std::span<const std::string> payload);

}  // namespace vitrine::vulkan
