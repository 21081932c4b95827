// Facts about the build of this executable. The build generates the definitions.
#pragma once

namespace vitrine::bench {

extern const char* const kCompiler;
extern const char* const kFlags;
extern const char* const kCommit;  // "1a2b3c4", or "1a2b3c4 with changes"

}  // namespace vitrine::bench
