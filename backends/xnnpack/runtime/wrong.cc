#include "backends/xnnpack/runtime/wrong.h"

#include <cstdarg>
#include <cstdio>

namespace vitrine::xnnpack {

Error wrong(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return Error::make(ErrorCode::kInvalidProgram, "%s", text);
}

}  // namespace vitrine::xnnpack
