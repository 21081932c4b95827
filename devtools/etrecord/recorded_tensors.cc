#include "devtools/etrecord/recorded_tensors.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "devtools/etrecord/archive.h"
#include "devtools/etrecord/pickle.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/tensor.h"

namespace vitrine::etrecord {
namespace {

using Kind = PickleNode::Kind;

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;
// Tensors may overlap or be listed twice; so much may all of them be larger than the archive.
constexpr uint64_t kMaxGrowth = 4;
constexpr uint64_t kAlwaysAllowed = uint64_t{64} << 20;

struct StorageType {
  std::string_view global;
  ScalarType dtype;
};
constexpr std::array<StorageType, 12> kStorageTypes = {{
    {"torch FloatStorage", ScalarType::kFloat},
    {"torch DoubleStorage", ScalarType::kDouble},
    {"torch HalfStorage", ScalarType::kHalf},
    {"torch BFloat16Storage", ScalarType::kBFloat16},
    {"torch LongStorage", ScalarType::kLong},
    {"torch IntStorage", ScalarType::kInt},
    {"torch ShortStorage", ScalarType::kShort},
    {"torch CharStorage", ScalarType::kChar},
    {"torch ByteStorage", ScalarType::kByte},
    {"torch BoolStorage", ScalarType::kBool},
    {"torch ComplexFloatStorage", ScalarType::kComplexFloat},
    {"torch ComplexDoubleStorage", ScalarType::kComplexDouble},
}};

constexpr std::string_view kRebuildTensor = "torch._utils _rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils _rebuild_parameter";
constexpr std::string_view kPickleMember = "data.pkl";

class ArchiveReader {
 public:
  ArchiveReader(std::string_view bytes, const std::string& place)
      : place_(place),
        archive_(open(bytes, place)),
        folder_(folder_of(archive_)),
        pickle_(parse_pickle(archive_.read(folder_ + std::string(kPickleMember), kMaxPickleBytes),
                             fmt::format("{}: {}{}", place, folder_, kPickleMember))),
        budget_(kMaxGrowth * bytes.size() + kAlwaysAllowed) {
    const std::string order = folder_ + "byteorder";
    if (archive_.has(order) && archive_.read(order, 16) != "little") {
      fail("its numbers are not little-endian");
    }
  }

  std::map<std::string, std::vector<std::vector<RecordedValue>>> outputs() {
    std::map<std::string, std::vector<std::vector<RecordedValue>>> methods;
    const PickleNode& root = node(pickle_.root, Kind::kDict, "is not a dict of methods");
    for (size_t i = 0; i < root.items.size(); i += 2) {
      const std::string& name = node(root.items[i], Kind::kText, "a method has no name").text;
      auto& sets = methods[name];
      for (const size_t set : node(root.items[i + 1], Kind::kList, "is not a list").items) {
        sets.push_back(values(set));
      }
    }
    return methods;
  }

  std::vector<RecordedValue> inputs() { return values(pickle_.root); }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw EtRecordError(fmt::format("{}: {}", place_, what));
  }

  static Archive open(std::string_view bytes, const std::string& place) {
    if (bytes.starts_with('\x80')) {
      throw EtRecordError(fmt::format(
          "{}: is a plain pickle, as ExecuTorch wrote up to 0.7, which may hold code: refused; "
          "export the record anew",
          place));
    }
    return Archive::open(std::as_bytes(std::span(bytes)), place);
  }

  // "archive/"
  static std::string folder_of(const Archive& archive) {
    for (const std::string& member : archive.members()) {
      const size_t slash = member.find('/');
      if (slash != std::string::npos && member.substr(slash + 1) == kPickleMember) {
        return member.substr(0, slash + 1);
      }
    }
    throw EtRecordError(
        fmt::format("{}: has no {}: torch.save did not write it", archive.source(), kPickleMember));
  }

  const PickleNode& node(size_t index, Kind kind, std::string_view what) const {
    const PickleNode& found = pickle_.nodes[index];
    if (found.kind != kind) fail(what);
    return found;
  }

  int64_t integer(size_t index) const {
    return node(index, Kind::kInt, "a number is not an integer").number;
  }

  std::vector<RecordedValue> values(size_t index) {
    const PickleNode& list = node(index, Kind::kList, "is not a list of values");
    spend(list.items.size());
    std::vector<RecordedValue> result;
    for (const size_t item : list.items) result.push_back(value(item));
    return result;
  }

  RecordedValue value(size_t index) {
    const PickleNode& from = pickle_.nodes[index];
    switch (from.kind) {
      case Kind::kNone:
        return {};
      case Kind::kBool:
        return from.number != 0;
      case Kind::kInt:
        return from.number;
      case Kind::kReal:
        return from.real;
      case Kind::kCall:
        return tensor(from);
      default:
        fail("a value is neither a tensor, a number nor None");
    }
  }

  RecordedTensor tensor(const PickleNode& call, bool is_parameter = false) {
    const std::string& callee = pickle_.nodes[call.items[0]].text;
    const std::vector<size_t>& arguments = pickle_.nodes[call.items[1]].items;
    if (callee == kRebuildParameter && !is_parameter && !arguments.empty()) {
      return tensor(node(arguments[0], Kind::kCall, "a parameter is not a tensor"), true);
    }
    if (callee != kRebuildTensor || arguments.size() < 4) {
      fail(fmt::format("a value is made by {}, which is not known", callee));
    }
    const PickleNode& reference =
        node(arguments[0], Kind::kPersist, "a tensor's storage is not in the archive");
    const PickleNode& storage = node(reference.items[0], Kind::kList, "a storage has no name");
    if (storage.items.size() < 3) fail("a storage has no name");
    RecordedTensor result;
    result.dtype = dtype_of(node(storage.items[1], Kind::kGlobal, "a storage has no type").text);
    const std::string& key = node(storage.items[2], Kind::kText, "a storage has no key").text;
    const std::string& bytes = storage_bytes(key);
    const std::vector<int64_t> strides = dimensions(arguments[3]);
    result.sizes = dimensions(arguments[2]);
    copy_elements(bytes, integer(arguments[1]), strides, result);
    return result;
  }

  ScalarType dtype_of(std::string_view global) const {
    for (const StorageType& type : kStorageTypes) {
      if (type.global == global) return type.dtype;
    }
    fail(fmt::format("storages of type {} are not known", global));
  }

  std::vector<int64_t> dimensions(size_t index) const {
    const PickleNode& list = node(index, Kind::kList, "a tensor's sizes or strides are no list");
    if (list.items.size() > kMaxRank)
      fail(fmt::format("a tensor has more than {} dimensions", kMaxRank));
    std::vector<int64_t> result;
    for (const size_t item : list.items) {
      result.push_back(integer(item));
      if (result.back() < 0) fail("a tensor's size or stride is negative");
    }
    return result;
  }

  const std::string& storage_bytes(const std::string& key) {
    const auto [entry, is_new] = storages_.try_emplace(key);
    if (is_new) {
      const std::string member = fmt::format("{}data/{}", folder_, key);
      entry->second = archive_.read(member, budget_);
    }
    return entry->second;
  }

  void spend(uint64_t bytes) {
    if (bytes > budget_) fail("its tensors are far larger than the archive: refused");
    budget_ -= bytes;
  }

  void copy_elements(const std::string& storage, int64_t offset,
                     const std::vector<int64_t>& strides, RecordedTensor& to) {
    if (strides.size() != to.sizes.size()) fail("a tensor has as many strides as sizes");
    uint64_t numel = 1;
    for (const int64_t size : to.sizes) numel = size == 0 ? 0 : numel;
    if (numel == 0) return;
    uint64_t last = static_cast<uint64_t>(offset);
    bool overflows = offset < 0;
    for (size_t i = 0; i < strides.size(); ++i) {
      uint64_t reach = 0;
      overflows = overflows || mul_overflows(numel, to.sizes[i], &numel) ||
                  mul_overflows(to.sizes[i] - 1, strides[i], &reach) ||
                  add_overflows(last, reach, &last);
    }
    const size_t width = element_size(to.dtype);
    uint64_t bytes = 0;
    if (overflows || mul_overflows(numel, width, &bytes) || last >= storage.size() / width) {
      fail("a tensor reaches out of its storage");
    }
    spend(bytes);
    to.data.resize(static_cast<size_t>(bytes));
    std::vector<int64_t> index(strides.size(), 0);
    int64_t at = offset;
    for (size_t logical = 0; logical < numel; ++logical) {
      std::memcpy(to.data.data() + logical * width,
                  storage.data() + static_cast<size_t>(at) * width, width);
      for (size_t dim = index.size(); dim-- > 0;) {
        at += strides[dim];
        if (++index[dim] < to.sizes[dim]) break;
        at -= strides[dim] * index[dim];
        index[dim] = 0;
      }
    }
  }

  const std::string& place_;
  Archive archive_;
  std::string folder_;
  Pickle pickle_;
  std::map<std::string, std::string> storages_;
  uint64_t budget_;
};

}  // namespace

std::map<std::string, std::vector<std::vector<RecordedValue>>> parse_reference_outputs(
    std::string_view archive, const std::string& place) {
  return ArchiveReader(archive, place).outputs();
}

std::vector<RecordedValue> parse_representative_inputs(std::string_view archive,
                                                       const std::string& place) {
  return ArchiveReader(archive, place).inputs();
}

}  // namespace vitrine::etrecord
