// Finds kernels by operator name. A registry is a list of constexpr tables, asked in order: earlier
// tables take over from later ones (optimised before portable).
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "runtime/core/error.h"
#include "runtime/kernel/kernel.h"

namespace vitrine {

// Pointers, so that a table can be composed from kernels of many files at compile time.
using KernelTable = std::span<const Kernel* const>;

struct FoundKernel {
  const Kernel* kernel = nullptr;  // null: not found
  const char* table = nullptr;     // name of the table that has it: "portable", "optimized", ...
};

// Immutable after set-up; then shared freely between threads.
class KernelRegistry {
 public:
  // Both live as long as the registry. OutOfResources beyond 16 tables.
  Error add(const char* table_name, KernelTable table);

  // `name` is the operator's name with its overload, "aten::add.out". Linear: a load-time cost.
  FoundKernel find(std::string_view name) const;

 private:
  struct Entry {
    const char* name;
    KernelTable table;
  };
  std::array<Entry, 16> entries_{};
  size_t count_ = 0;
};

}  // namespace vitrine
