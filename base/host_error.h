// The base of all exceptions of the host side.
#pragma once

#include <stdexcept>

namespace vitrine {

// what() names the file or node, the place in it, and what is wrong.
class HostError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace vitrine
