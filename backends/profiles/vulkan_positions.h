#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/profiles/vulkan_dispatch.h"
#include "inspector/join/delegate_profile.h"

namespace vitrine::vulkan {

// Returns the payload's operator for each event. An unknown operator or a copy between layouts
// gives nullopt. `payload` lists the payload's operator names. If `payload` is empty, operators are
// numbered in the order of their ids.
std::vector<std::optional<inspector::PayloadOperator>> payload_positions(
    std::span<const DispatchEvent> events, std::span<const std::string> payload);

}  // namespace vitrine::vulkan
