#include "runtime/platform/system_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace vitrine::platform {

void read_start(const char* path, char* text, size_t size) {
  size_t length = 0;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t count = 0;
    while (length + 1 < size && (count = ::read(file, text + length, size - 1 - length)) > 0) {
      length += static_cast<size_t>(count);
    }
    ::close(file);
  }
  text[length] = '\0';
}

const char* find_line(const char* text, const char* key) {
  const size_t size = std::strlen(key);
  while (std::strncmp(text, key, size) != 0 || text[size] != ' ') {
    text = std::strchr(text, '\n');
    if (text == nullptr) return nullptr;
    ++text;
  }
  return text + size;
}

}  // namespace vitrine::platform
