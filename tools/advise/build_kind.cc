#include "tools/advise/build_kind.h"

namespace vitrine::tools {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif
#else
constexpr bool kHasSanitizer = false;
#endif

#ifdef NDEBUG
constexpr bool kHasAssertions = false;
#else
constexpr bool kHasAssertions = true;
#endif

#ifdef __OPTIMIZE__
constexpr bool kIsOptimized = true;
#else
constexpr bool kIsOptimized = false;
#endif

}  // namespace

BuildKind this_build() {
  return {.has_assertions = kHasAssertions,
          .is_optimized = kIsOptimized,
          .has_sanitizer = kHasSanitizer};
}

std::vector<std::string> build_notes(const BuildKind& build) {
  std::vector<std::string> notes;
  if (build.has_assertions) {
    notes.emplace_back("this build checks assertions: gains in a release build differ");
  }
  const std::string disturbance = build_disturbance(build);
  if (!disturbance.empty()) notes.push_back(disturbance);
  return notes;
}

std::string build_disturbance(const BuildKind& build) {
  if (build.has_sanitizer) {
    return "this build has a sanitizer, so its times are misleading: build the preset release";
  }
  if (!build.is_optimized) {
    return "this build is not optimized, so its times are misleading: build the preset release";
  }
  return "";
}

}  // namespace vitrine::tools
