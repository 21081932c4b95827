# Generates the source file OUT for build_facts.h. Keeps OUT if no fact changed.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE changed ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
elseif(changed)
  string(APPEND commit " with changes")
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[
#include "bench/suite/build_facts.h"

namespace vitrine::bench {

const char* const kCompiler = "@COMPILER@";
const char* const kFlags = "@FLAGS@";
const char* const kCommit = "@commit@";

}  // namespace vitrine::bench
]] @ONLY)
