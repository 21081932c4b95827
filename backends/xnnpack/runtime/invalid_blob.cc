#include "backends/xnnpack/runtime/invalid_blob.h"

#include <cstdarg>
#include <cstdio>

namespace vitrine::xnnpack {

Error invalid_blob(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return Error::make(ErrorCode::kInvalidProgram, "%s", text);
}

Error too_much_work(const Budget& steps) {
  return Error::make(ErrorCode::kOutOfResources,
                     "more than %llu items to read (max_load_steps): payloads use the same ones "
                     "again and again",
                     static_cast<unsigned long long>(steps.limit()));
}

}  // namespace vitrine::xnnpack
