#include "backends/xnnpack/runtime/reader/invalid_payload.h"

#include <cstdarg>
#include <cstdio>

namespace vitrine::xnnpack {

Error invalid_payload(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return Error::make(ErrorCode::kInvalidProgram, "%s", text);
}

Error too_much_work(const Budget& steps) {
  return Error::make(ErrorCode::kOutOfResources,
                     "loading needs more than %llu steps (max_load_steps): the payloads refer to "
                     "the same items too often",
                     static_cast<unsigned long long>(steps.limit()));
}

}  // namespace vitrine::xnnpack
