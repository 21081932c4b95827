// A program with something of every kind, for damage.
#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

// The values of its one method; a None, a bool and a double come after them.
enum WholeProgramValue : size_t {
  kPlanned,
  kConstant,
  kState,
  kExternal,
  kInt,
  kString,
  kIntList,
  kDoubleList,
  kBoolList,
  kTensorList,
  kOptionalList,
};

ProgramBuilder whole_program();

}  // namespace vitrine::test
