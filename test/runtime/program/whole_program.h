// Builds a program with every kind of value and data. Tests damage this program.
#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

// Indices of the values in the program's only method. After these values, the method has a None, a
// bool and a double.
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
