#include "base/saved_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/format_error.h"
#include "vitrine/tensor.h"

namespace vitrine {
namespace {

using Kind = PickleNode::Kind;

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;
constexpr std::string_view kPickleMember = "data.pkl";

struct StorageType {
  std::string_view global;
  ScalarType dtype;
};
constexpr std::array kStorageTypes = {
    StorageType{"torch FloatStorage", ScalarType::kFloat},
    StorageType{"torch DoubleStorage", ScalarType::kDouble},
    StorageType{"torch HalfStorage", ScalarType::kHalf},
    StorageType{"torch BFloat16Storage", ScalarType::kBFloat16},
    StorageType{"torch LongStorage", ScalarType::kLong},
    StorageType{"torch IntStorage", ScalarType::kInt},
    StorageType{"torch ShortStorage", ScalarType::kShort},
    StorageType{"torch CharStorage", ScalarType::kChar},
    StorageType{"torch ByteStorage", ScalarType::kByte},
    StorageType{"torch BoolStorage", ScalarType::kBool},
    StorageType{"torch ComplexFloatStorage", ScalarType::kComplexFloat},
    StorageType{"torch ComplexDoubleStorage", ScalarType::kComplexDouble},
};

constexpr std::string_view kRebuildTensor = "torch._utils _rebuild_tensor_v2";
// PyTorch functions that rebuild parameters. The reader ignores the Python attributes of the second
// function.
constexpr std::string_view kRebuildParameter[] = {"torch._utils _rebuild_parameter",
                                                  "torch._utils _rebuild_parameter_with_state"};

std::string folder_of(const ZipArchive& archive) {
  for (const std::string& member : archive.names()) {
    if (!member.ends_with(kPickleMember)) continue;
    std::string folder = member.substr(0, member.size() - kPickleMember.size());
    if (folder.empty() || folder.ends_with('/')) return folder;
  }
  throw FormatError(fmt::format("{}: has no {}, so torch.save did not write this file",
                                archive.source(), kPickleMember));
}

Pickle pickle_of(const ZipArchive& archive, const std::string& folder) {
  const std::string member = folder + std::string(kPickleMember);
  return parse_pickle(archive.read(member, kMaxPickleBytes).text(),
                      fmt::format("{}: {}", archive.source(), member));
}

ScalarType dtype_of(std::string_view global, const SavedObjects& objects) {
  const auto found = std::ranges::find(kStorageTypes, global, &StorageType::global);
  if (found != kStorageTypes.end()) return found->dtype;
  objects.fail(fmt::format("unknown storage type {}", global));
}

}  // namespace

SavedObjects::SavedObjects(SharedBytes archive, std::string source, uint64_t max_storage_bytes)
    : source_(std::move(source)),
      archive_(std::move(archive), source_),
      folder_(folder_of(archive_)),
      pickle_(pickle_of(archive_, folder_)),
      max_storage_bytes_(max_storage_bytes) {
  const std::string order = folder_ + "byteorder";
  if (archive_.has(order) && archive_.read(order, 16).text() != "little") {
    fail(fmt::format("{}: the data are not little-endian", order));
  }
}

void SavedObjects::fail(std::string_view what) const {
  throw FormatError(fmt::format("{}: {}", source_, what));
}

const PickleNode& SavedObjects::node(size_t index, Kind kind, std::string_view what) const {
  const PickleNode& found = node(index);
  if (found.kind != kind) fail(what);
  return found;
}

int64_t SavedObjects::integer(size_t index) const {
  return node(index, Kind::kInt, "a tensor's offset, size or stride is not an integer").number;
}

std::vector<int64_t> SavedObjects::integers(size_t index) const {
  const PickleNode& list = node(index, Kind::kList, "a tensor's sizes or strides are not a list");
  if (list.items.size() > kMaxRank) {
    fail(fmt::format("a tensor has more than {} dimensions", kMaxRank));
  }
  std::vector<int64_t> result;
  for (const size_t item : list.items) result.push_back(integer(item));
  return result;
}

const SharedBytes& SavedObjects::storage(const std::string& key) {
  const auto [entry, is_new] = storages_.try_emplace(key);
  if (is_new) {
    entry->second = archive_.read(fmt::format("{}data/{}", folder_, key), max_storage_bytes_);
  }
  return entry->second;
}

bool SavedObjects::is_tensor(const PickleNode& value) const {
  if (value.kind != Kind::kCall) return false;
  const std::string& callee = node(value.items[0]).text;
  return callee == kRebuildTensor || std::ranges::count(kRebuildParameter, callee) != 0;
}

SavedTensor SavedObjects::tensor(const PickleNode& call) {
  if (call.kind != Kind::kCall) fail("a value is not a tensor");
  const std::string& callee = node(call.items[0]).text;
  const std::vector<size_t>& arguments = node(call.items[1]).items;
  const auto is_true = [&](size_t index) {
    return node(index, Kind::kBool, "requires_grad is not a bool").number != 0;
  };
  if (std::ranges::count(kRebuildParameter, callee) != 0 && arguments.size() >= 2) {
    const PickleNode& inner = node(arguments[0], Kind::kCall, "a parameter is not a tensor");
    if (node(inner.items[0]).text != kRebuildTensor) fail("a parameter is not a tensor");
    SavedTensor made = tensor(inner);
    made.requires_grad = is_true(arguments[1]);
    return made;
  }
  if (callee != kRebuildTensor || arguments.size() < 5) {
    fail(fmt::format("a value is made by calling {}, which is not supported", callee));
  }
  const PickleNode& reference =
      node(arguments[0], Kind::kPersist, "a tensor's storage is not in the archive");
  const PickleNode& name = node(reference.items[0], Kind::kList, "a storage has no name");
  if (name.items.size() < 3) fail("a storage has no name");
  SavedTensor made;
  made.dtype = dtype_of(node(name.items[1], Kind::kGlobal, "a storage has no type").text, *this);
  made.storage = storage(node(name.items[2], Kind::kText, "a storage has no key").text);
  made.storage_offset = integer(arguments[1]);
  made.sizes = integers(arguments[2]);
  made.strides = integers(arguments[3]);
  made.requires_grad = is_true(arguments[4]);
  return made;
}

}  // namespace vitrine
