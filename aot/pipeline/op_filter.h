// Which operators may be delegated: --only-op and --exclude-op.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aot/lowering/partitioner.h"

namespace vitrine::aot {

// Names as a user writes them: "aten.add.Tensor", "add.Tensor", "aten.add" or "add".
class OpFilter {
 public:
  OpFilter() = default;
  // If `only` is empty, all but `excluded` may be delegated.
  OpFilter(std::vector<std::string> only, std::vector<std::string> excluded);

  bool is_empty() const { return only_.empty() && excluded_.empty(); }
  // `op` is a full name: "aten.add.Tensor".
  bool allows(std::string_view op) const;
  // AotError if a name of the filter fits none of the operators.
  void require_known(const std::set<std::string>& operators) const;

 private:
  std::vector<std::string> only_;
  std::vector<std::string> excluded_;
};

// A partitioner that never sees the operators that the filter forbids.
std::shared_ptr<const Partitioner> filtered(std::shared_ptr<const Partitioner> partitioner,
                                            const OpFilter& filter);

}  // namespace vitrine::aot
