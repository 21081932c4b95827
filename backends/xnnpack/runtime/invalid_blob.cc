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

}  // namespace vitrine::xnnpack
