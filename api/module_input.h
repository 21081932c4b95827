// The form in which a Module passes an input to a method.
#pragma once

#include "vitrine/module.h"

namespace vitrine {

struct Module::Input {
  const Array* array = nullptr;  // null if the input is `value`, which is not a tensor
  EValue value;
};

}  // namespace vitrine
