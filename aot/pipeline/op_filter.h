// Restricts the operators that may be delegated (--only-op, --exclude-op).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aot/lowering/partitioner.h"

namespace vitrine::aot {

// Names of operators may be abbreviated: "add.Tensor", "aten.add" or "add".
class OpFilter {
 public:
  OpFilter() = default;
  // Allows `only` (if empty: all operators) except `excluded`.
  OpFilter(std::vector<std::string> only, std::vector<std::string> excluded);

  bool is_empty() const { return only_.empty() && excluded_.empty(); }
  // `op` must be a full name: "aten.add.Tensor".
  bool allows(std::string_view op) const;
  // Throws AotError if a name in the filter does not match any of `operators`.
  void require_known(const std::set<std::string>& operators) const;

 private:
  std::vector<std::string> only_;
  std::vector<std::string> excluded_;
};

// Restricts a partitioner to the operators that the filter allows.
std::shared_ptr<const Partitioner> filtered(std::shared_ptr<const Partitioner> partitioner,
                                            const OpFilter& filter);

}  // namespace vitrine::aot
