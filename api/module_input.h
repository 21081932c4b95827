#pragma once

#include "vitrine/module.h"

namespace vitrine {

struct Module::Input {
  const Array* array = nullptr;  // null: the input is `value`
  EValue value;
};

}  // namespace vitrine
