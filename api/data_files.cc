#include "api/data_files.h"

#include "vitrine/flat_tensor.h"

namespace vitrine {
namespace {

Result<std::unique_ptr<NamedDataMap>> load_file(const char* path) {
  VITRINE_ASSIGN_OR_RETURN(auto source, map_file(path));
  auto map = load_flat_tensor(std::move(source));
  if (!map.ok()) return map.take_error().in("%s", path);
  return map;
}

}  // namespace

Result<DataFiles> DataFiles::load(std::span<const char* const> paths) {
  DataFiles files;
  for (const char* path : paths) {
    VITRINE_ASSIGN_OR_RETURN(auto map, load_file(path));
    const NamedDataMap* before = files.all();
    const NamedDataMap* added = map.get();
    for (size_t i = 0; before != nullptr && i < added->size(); ++i) {
      const std::string_view key = added->key(i);
      if (before->layout(key).ok()) {
        return Error::make(ErrorCode::kInvalidExternalData,
                           "%s: key %.*s is also in an earlier data file", path,
                           static_cast<int>(key.size()), key.data());
      }
    }
    VITRINE_RETURN_IF_ERROR(files.maps_.push_back(std::move(map)));
    if (before == nullptr) continue;
    std::unique_ptr<NamedDataMap> both(new (std::nothrow) MergedNamedData(before, added));
    if (both == nullptr) {
      return Error::make(ErrorCode::kMemoryAllocationFailed, "%s: no memory for its keys", path);
    }
    VITRINE_RETURN_IF_ERROR(files.maps_.push_back(std::move(both)));
  }
  return files;
}

}  // namespace vitrine
