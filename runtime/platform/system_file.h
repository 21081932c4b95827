// Reads small text files that describe the system, such as /proc/meminfo. Allocates nothing.
#pragma once

#include <cstddef>

namespace vitrine::platform {

// Reads the beginning of a file, at most `size` - 1 bytes, and appends a zero byte. The text is
// empty if the file cannot be read.
void read_start(const char* path, char* text, size_t size);

// Returns the rest of the line that begins with `key` and a space, or null if no line does.
const char* find_line(const char* text, const char* key);

}  // namespace vitrine::platform
