#include "vitrine/kernel_registry.h"

namespace vitrine {

Error KernelRegistry::add(const char* table_name, KernelTable table) {
  if (count_ == entries_.size()) {
    return Error::make(ErrorCode::kOutOfResources, "kernel registry: no room for table %s",
                       table_name);
  }
  entries_[count_++] = {table_name, table};
  return Error();
}

FoundKernel KernelRegistry::find(std::string_view name) const {
  for (size_t i = 0; i < count_; ++i) {
    for (const Kernel* kernel : entries_[i].table.kernels) {
      if (name == kernel->name) return {kernel, entries_[i].name, entries_[i].table.dtypes};
    }
  }
  return {};
}

}  // namespace vitrine
