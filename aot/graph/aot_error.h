// The base of all exceptions of the ahead-of-time side.
#pragma once

#include <stdexcept>

namespace vitrine::aot {

// what() names the file or node, the place in it, and what is wrong.
class AotError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace vitrine::aot
