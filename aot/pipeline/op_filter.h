// Restricts the operators that may be delegated (--only-op, --exclude-op).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aot/lowering/partitioner.h"

namespace vitrine::aot {

// A filter for operators. Names may be abbreviated: "aten.add.Tensor", "add.Tensor", "aten.add" or
// "add".
class OpFilter {
 public:
  OpFilter() = default;
  // Allows the operators in `only` (or all operators if `only` is empty), except the operators in
  // `excluded`.
  OpFilter(std::vector<std::string> only, std::vector<std::string> excluded);

  bool is_empty() const { return only_.empty() && excluded_.empty(); }
  // True if the filter allows `op`, which is a full name: "aten.add.Tensor".
  bool allows(std::string_view op) const;
  // Throws AotError if a name in the filter does not match any of `operators`.
  void require_known(const std::set<std::string>& operators) const;

 private:
  std::vector<std::string> only_;
  std::vector<std::string> excluded_;
};

// Returns a partitioner that works like `partitioner` but cannot delegate operators that the filter
// forbids.
std::shared_ptr<const Partitioner> filtered(std::shared_ptr<const Partitioner> partitioner,
                                            const OpFilter& filter);

}  // namespace vitrine::aot
