// Finds kernels by operator name. A registry is a list of constexpr tables, searched in order:
// earlier tables override later ones (optimised before portable).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "vitrine/error.h"
#include "vitrine/kernel.h"

namespace vitrine {

// Pointers, so that a table can be composed from kernels of many files at compile time.
struct KernelTable {
  constexpr KernelTable() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr KernelTable(std::span<const Kernel* const> all, uint32_t of_dtypes = kAllDtypes)
      : kernels(all), dtypes(of_dtypes) {}
  template <size_t count>
  constexpr KernelTable(const Kernel* const (&all)[count])  // NOLINT(google-explicit-constructor)
      : kernels(all) {}

  static constexpr uint32_t kAllDtypes = UINT32_MAX;
  std::span<const Kernel* const> kernels;
  // Bit n: the kernels take ScalarType n, if the operator does. Loading a method that passes
  // them a tensor of another dtype fails.
  uint32_t dtypes = kAllDtypes;
};

struct FoundKernel {
  const Kernel* kernel = nullptr;  // null: not found
  const char* table = nullptr;     // name of the table that has it: "portable", "optimized", ...
  uint32_t dtypes = KernelTable::kAllDtypes;  // KernelTable::dtypes
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
