// The base class of all exceptions on the host side.
#pragma once

#include <stdexcept>

namespace vitrine {

// what() names the file or node, the position in the file, and the error.
class HostError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace vitrine
