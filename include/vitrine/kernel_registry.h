// KernelRegistry finds kernels by operator name.
//
// A registry is a list of constexpr tables. Earlier tables override later tables (optimized before
// portable).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "vitrine/error.h"
#include "vitrine/kernel.h"

namespace vitrine {

struct KernelTable {
  constexpr KernelTable() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr KernelTable(std::span<const Kernel* const> all, uint32_t allowed_dtypes = kAllDtypes)
      : kernels(all), dtypes(allowed_dtypes) {}
  template <size_t count>
  constexpr KernelTable(const Kernel* const (&all)[count])  // NOLINT(google-explicit-constructor)
      : kernels(all) {}

  static constexpr uint32_t kAllDtypes = UINT32_MAX;
  std::span<const Kernel* const> kernels;
  // Bit n is set if the kernels were built for ScalarType n. A method that passes the kernels a
  // tensor of another dtype cannot be loaded.
  uint32_t dtypes = kAllDtypes;
};

struct FoundKernel {
  const Kernel* kernel = nullptr;             // null: not found
  const char* table = nullptr;                // name of its table: "portable", "optimized", ...
  uint32_t dtypes = KernelTable::kAllDtypes;  // KernelTable::dtypes
};

// Once all tables are added, threads may share the registry.
class KernelRegistry {
 public:
  // `table_name` and the kernels of `table` must outlive the registry. Returns OutOfResources after
  // 16 tables.
  Error add(const char* table_name, KernelTable table);

  // `name` is the operator's name with its overload, such as "aten::add.out". The search is linear,
  // and happens only when a method is loaded.
  FoundKernel find(std::string_view name) const;

 private:
  struct NamedTable {
    const char* name;
    KernelTable table;
  };
  std::array<NamedTable, 16> tables_{};
  size_t count_ = 0;
};

}  // namespace vitrine
