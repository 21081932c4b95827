#include "vitrine/kernel_registry.h"

namespace vitrine {

Error KernelRegistry::add(const char* table_name, KernelTable table) {
  if (count_ == tables_.size()) {
    return Error::make(ErrorCode::kOutOfResources,
                       "cannot register kernel table %s: at most %zu tables are supported",
                       table_name, tables_.size());
  }
  tables_[count_++] = {table_name, table};
  return Error();
}

FoundKernel KernelRegistry::find(std::string_view name) const {
  for (size_t i = 0; i < count_; ++i) {
    for (const Kernel* kernel : tables_[i].table.kernels) {
      if (name == kernel->name) return {kernel, tables_[i].name, tables_[i].table.dtypes};
    }
  }
  return {};
}

}  // namespace vitrine
