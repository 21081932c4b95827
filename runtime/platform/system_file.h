// Reads small text files that describe the system, such as /proc/meminfo. Allocates nothing.
#pragma once

#include <cstddef>

namespace vitrine::platform {

// Reads at most `size` - 1 bytes from the beginning of a file, and appends a zero byte. The text is
// empty if the file cannot be read.
void read_start(const char* path, char* text, size_t size);

// Finds the line that begins with `key` and a space, and returns the rest of this line. Null if
// the text lacks such a line.
const char* find_line(const char* text, const char* key);

}  // namespace vitrine::platform
