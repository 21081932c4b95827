// Describes the kind of this build. Programs run slower in builds with assertions, with a sanitizer
// or without optimization than in release builds.
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

// Returns sentences about the build, for notes.
std::vector<std::string> build_notes(const BuildKind& build);
// Returns the reason why times that are measured with this build cannot be trusted; empty if they
// can be trusted.
std::string build_disturbance(const BuildKind& build);

}  // namespace vitrine::tools
