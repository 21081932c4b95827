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

Result<DataFiles> DataFiles::load(std::span<const std::string> paths) {
  DataFiles files;
  for (const std::string& path : paths) {
    VITRINE_ASSIGN_OR_RETURN(auto map, load_file(path.c_str()));
    const NamedDataMap* before = files.all();
    const NamedDataMap* added = map.get();
    for (size_t i = 0; before != nullptr && i < added->size(); ++i) {
      const std::string_view key = added->key(i);
      if (before->layout(key).ok()) {
        return Error::make(ErrorCode::kInvalidExternalData,
                           "%s: %.*s is in an earlier data file too", path.c_str(),
                           static_cast<int>(key.size()), key.data());
      }
    }
    files.maps_.push_back(std::move(map));
    if (before != nullptr) {
      files.maps_.push_back(std::make_unique<MergedNamedData>(before, added));
    }
  }
  return files;
}

}  // namespace vitrine
