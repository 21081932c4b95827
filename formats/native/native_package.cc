#include "formats/native/native_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/format_error.h"
#include "base/json.h"
#include "formats/delegates/byte_view.h"

namespace vitrine::native {
namespace {

constexpr uint64_t kMaxGraphBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxDataBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxJsonBytes = uint64_t{64} << 20;
constexpr size_t kMaxTensors = size_t{1} << 20;
constexpr size_t kMaxJsonDepth = 8;
constexpr size_t kMaxRank = 64;
constexpr std::string_view kGraphIdentifier = "NPTG";
constexpr std::string_view kDataMember = "program.safetensors";
constexpr std::string_view kAliasMember = "aliases.json";

bool is_graph(std::span<const std::byte> bytes) {
  return delegates::has_text_at(bytes, 4, kGraphIdentifier);
}

struct DtypeName {
  std::string_view name;
  ScalarType dtype;
};
constexpr DtypeName kDtypeNames[] = {
    {"U8", ScalarType::kByte},    {"I8", ScalarType::kChar},
    {"I16", ScalarType::kShort},  {"I32", ScalarType::kInt},
    {"I64", ScalarType::kLong},   {"F16", ScalarType::kHalf},
    {"F32", ScalarType::kFloat},  {"F64", ScalarType::kDouble},
    {"BOOL", ScalarType::kBool},  {"BF16", ScalarType::kBFloat16},
    {"U16", ScalarType::kUInt16}, {"U32", ScalarType::kUInt32},
    {"U64", ScalarType::kUInt64}, {"C64", ScalarType::kComplexFloat},
};

// Reads the header of program.safetensors and gives each tensor its bytes. Format:
// https://github.com/huggingface/safetensors (README, "Format").
class TensorFile {
 public:
  TensorFile(std::span<const std::byte> bytes, std::string source)
      : bytes_(bytes), source_(std::move(source)) {}

  std::map<std::string, StoredTensor, std::less<>> read() {
    const auto header_bytes = delegates::number_at<uint64_t>(bytes_, 0, source_);
    if (header_bytes > kMaxJsonBytes) {
      fail(fmt::format("its header has {} bytes; at most {} are accepted", header_bytes,
                       kMaxJsonBytes));
    }
    const auto header = delegates::range_of(bytes_, sizeof(uint64_t), header_bytes, source_);
    data_ = bytes_.subspan(sizeof(uint64_t) + header.size());
    const JsonDocument document(delegates::text_of(header), source_, kMaxJsonDepth);
    document.root().each_member([&](const std::string& key, const JsonValue& entry) {
      if (key != "__metadata__") add(key, entry);
    });
    check_tiling();
    return std::move(tensors_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw FormatError(fmt::format("{}: {}", source_, what));
  }

  void add(const std::string& key, const JsonValue& entry) {
    if (tensors_.size() == kMaxTensors)
      entry.fail(fmt::format("more than {} tensors", kMaxTensors));
    StoredTensor tensor;
    const std::string& dtype = entry.at("dtype").string();
    const auto* row = std::ranges::find(kDtypeNames, dtype, &DtypeName::name);
    if (row == std::end(kDtypeNames))
      entry.at("dtype").fail(fmt::format("unknown dtype {}", dtype));
    tensor.dtype = row->dtype;
    uint64_t bytes = element_size(row->dtype);
    const JsonValue shape = entry.at("shape");
    if (shape.size() > kMaxRank) shape.fail(fmt::format("has more than {} dims", kMaxRank));
    shape.each_item([&](const JsonValue& size) {
      tensor.sizes.push_back(size.integer());
      if (tensor.sizes.back() < 0) size.fail("is negative");
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(tensor.sizes.back()), &bytes)) {
        shape.fail("the number of bytes overflows");
      }
    });
    const JsonValue offsets = entry.at("data_offsets");
    std::vector<uint64_t> range;
    offsets.each_item(
        [&](const JsonValue& offset) { range.push_back(offset.integer<uint64_t>()); });
    if (range.size() != 2 || range[0] > range[1] || range[1] > data_.size()) {
      offsets.fail(
          fmt::format("expected a begin offset and an end offset of at most {}", data_.size()));
    }
    if (range[1] - range[0] != bytes) {
      offsets.fail(
          fmt::format("has {} bytes, but dtype and shape need {}", range[1] - range[0], bytes));
    }
    tensor.bytes = data_.subspan(range[0], bytes);
    ranges_.emplace_back(range[0], range[1]);
    tensors_.emplace(key, std::move(tensor));
  }

  // The tensors must fill the data without gaps or overlaps.
  void check_tiling() {
    std::ranges::sort(ranges_);
    uint64_t end = 0;
    for (const auto& [first, last] : ranges_) {
      if (first != end) {
        fail(fmt::format("a tensor begins at byte {} of the data, but the previous one ends at {}",
                         first, end));
      }
      end = last;
    }
    if (end != data_.size()) {
      fail(fmt::format("its tensors end at byte {}, but its data has {} bytes", end, data_.size()));
    }
  }

  std::span<const std::byte> bytes_;
  std::span<const std::byte> data_;
  std::string source_;
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
};

// Adds aliases: tensors that share the bytes of another tensor.
void add_aliases(const ZipArchive& archive, NativePackage& package) {
  const std::string label = fmt::format("{}: {}", archive.source(), kAliasMember);
  const JsonDocument document(archive.read(kAliasMember, kMaxJsonBytes).text(), label,
                              kMaxJsonDepth);
  std::map<std::string, StoredTensor, std::less<>> aliases;
  document.root().each_member([&](const std::string& key, const JsonValue& entry) {
    const std::string& owner = entry.string();
    if (package.tensors.contains(key)) {
      entry.fail(fmt::format("{} is an alias, but {} also stores a tensor of this name", key,
                             kDataMember));
    }
    const auto found = package.tensors.find(owner);
    if (found == package.tensors.end()) {
      entry.fail(fmt::format("the owner {} is not in {}", owner, kDataMember));
    }
    if (aliases.size() == kMaxTensors) entry.fail(fmt::format("more than {} aliases", kMaxTensors));
    aliases.emplace(key, found->second);
  });
  package.tensors.merge(aliases);
}

}  // namespace

bool is_native_model(std::span<const std::byte> bytes) {
  if (is_graph(bytes)) return true;
  if (!delegates::has_text_at(bytes, 0, "PK")) return false;
  try {
    return ZipArchive({bytes, nullptr}, "archive").has(kGraphMember);
  } catch (const FormatError&) {
    return false;
  }
}

NativePackage read_native_package(SharedBytes bytes, std::string source) {
  NativePackage package;
  package.source = std::move(source);
  if (is_graph(bytes.span)) {
    package.graph = std::move(bytes);
    return package;
  }
  const ZipArchive archive(std::move(bytes), package.source);
  package.graph = archive.read(kGraphMember, kMaxGraphBytes);
  if (!is_graph(package.graph.span)) {
    throw FormatError(fmt::format("{}: {}: no identifier {} at byte 4", package.source,
                                  kGraphMember, kGraphIdentifier));
  }
  if (archive.has(kDataMember)) {
    package.data = archive.read(kDataMember, kMaxDataBytes);
    package.tensors =
        TensorFile(package.data.span, fmt::format("{}: {}", package.source, kDataMember)).read();
  }
  if (archive.has(kAliasMember)) add_aliases(archive, package);
  return package;
}

}  // namespace vitrine::native
