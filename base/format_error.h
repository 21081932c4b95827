#pragma once

#include <stdexcept>

namespace vitrine {

// A file that is damaged, or holds what is not supported: what() names the file, the place in it
// and what is wrong.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace vitrine
