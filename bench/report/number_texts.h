// Times, sizes, counts and shares as the page writes them.
#pragma once

#include <optional>
#include <string>

namespace vitrine::bench {

std::string time_text(double ns);      // "12.3 us"
std::string bytes_text(double bytes);  // "14.2 MB"
std::string count_text(double count);  // "1.05 M"
// Empty if unset.
std::string percent_text(const std::optional<double>& share);  // "87 %"

}  // namespace vitrine::bench
