// An input as a Module hands it to a method.
#pragma once

#include "vitrine/module.h"

namespace vitrine {

struct Module::Input {
  const Array* array = nullptr;  // else `value`, which is not a tensor
  EValue value;
};

}  // namespace vitrine
