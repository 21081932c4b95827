// The compiler, the flags and the commit with which this executable was built. The build generates
// the definitions.
#pragma once

namespace vitrine::bench {

extern const char* const kCompiler;
extern const char* const kFlags;
extern const char* const kCommit;  // "1a2b3c4", or "1a2b3c4 with changes"

}  // namespace vitrine::bench
