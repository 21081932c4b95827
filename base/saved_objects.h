// Reads archives that torch.save wrote, without executing their pickles.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/pickle.h"
#include "base/zip_archive.h"
#include "vitrine/scalar_type.h"

namespace vitrine {

// A strided view of a storage. The reader does not check the fields against each other.
struct SavedTensor {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements
  int64_t storage_offset = 0;    // in elements
  bool requires_grad = false;
  SharedBytes storage;  // shared with the archive if stored uncompressed
};

// The objects in one archive, indexed by their position in the archive's pickle. Not thread-safe.
// FormatErrors begin with `source`.
class SavedObjects {
 public:
  // tensor() throws if the tensor's storage is larger than `max_storage_bytes`.
  SavedObjects(SharedBytes archive, std::string source, uint64_t max_storage_bytes);

  const PickleNode& root() const { return pickle_.nodes[pickle_.root]; }
  const PickleNode& node(size_t index) const { return pickle_.nodes[index]; }
  // Returns a node. Throws a FormatError with the message `what` if the node has another kind.
  const PickleNode& node(size_t index, PickleNode::Kind kind, std::string_view what) const;
  bool is_tensor(const PickleNode& value) const;
  // Reads a tensor or parameter from the call that makes it.
  SavedTensor tensor(const PickleNode& call);

  [[noreturn]] void fail(std::string_view what) const;

 private:
  int64_t integer(size_t index) const;
  std::vector<int64_t> integers(size_t index) const;
  const SharedBytes& storage(const std::string& key);

  std::string source_;
  ZipArchive archive_;
  std::string folder_;  // "archive/"
  Pickle pickle_;
  uint64_t max_storage_bytes_;
  std::map<std::string, SharedBytes> storages_;
};

}  // namespace vitrine
