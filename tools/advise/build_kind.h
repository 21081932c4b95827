// The kind of this build. Assertions, sanitizers and missing optimization make programs slow.
#pragma once

#include <string>
#include <vector>

namespace vitrine::tools {

struct BuildKind {
  bool has_assertions = false;
  bool is_optimized = true;
  bool has_sanitizer = false;
};

BuildKind this_build();

// Returns sentences about the build.
std::vector<std::string> build_notes(const BuildKind& build);
// Returns the reason why measurements with this build are unreliable, or an empty text.
std::string build_disturbance(const BuildKind& build);

}  // namespace vitrine::tools
