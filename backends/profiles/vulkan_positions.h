// Maps the dispatches in Vulkan's log to the operators of a payload.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/profiles/vulkan_dispatch.h"
#include "inspector/join/delegate_profile.h"

namespace vitrine::vulkan {

// Returns the payload's operator for each event, or nullopt for copies and for events whose id and
// operator name match no operator. `payload` lists the payload's operator names. If `payload` is
// empty, the names are unknown, and operators are numbered in the order of their ids.
std::vector<std::optional<inspector::PayloadOperator>> payload_positions(
    std::span<const DispatchEvent> events, std::span<const std::string> payload);

}  // namespace vitrine::vulkan
