// Finds the payload's operators for which Vulkan logged dispatches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/foreign/vulkan_dispatch.h"
#include "inspector/join/delegate_profile.h"

namespace vitrine::vulkan {

// `payload` has the names of the payload's operators, or is empty if it is unknown. Operators are
// then numbered in the order of their ids. An event whose operator has another name in the payload
// has none.
std::vector<std::optional<inspector::PayloadOperator>> payload_positions(
    std::span<const DispatchEvent> events, std::span<const std::string> payload);

}  // namespace vitrine::vulkan
