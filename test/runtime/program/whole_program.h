// Builds a program with every kind of value and data, for tests that damage it.
#pragma once

#include "test/support/program_builder.h"

namespace vitrine::test {

// Indices of the values of its only method. A None, a bool and a double follow.
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
