#include "formats/flat_tensor/flat_tensor_writer.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "runtime/core/checked_math.h"
#include "schema/flat_tensor_generated.h"
#include "vitrine/tensor.h"

namespace vitrine {
namespace {

namespace fb = ::flatbuffers;
namespace fbs = schema::flat_tensor;

constexpr uint32_t kHeaderBytes = 40;
// Size in bytes of the header, with padding to a multiple of 16.
constexpr uint32_t kInsertedBytes = 48;
constexpr size_t kInsertedAt = 8;  // the header follows root offset and identifier
constexpr char kHeaderMagic[] = "FH01";
constexpr size_t kSegmentAlignment = 128;
// Maximum number of bytes that the builder writes for an entry and its segment, without the key.
constexpr uint64_t kMaxEntryBytes = 256;

struct Segment {
  std::span<const std::byte> data;
  size_t alignment = kSegmentAlignment;
  size_t offset = 0;
};

bool is_power_of_two(size_t number) { return number != 0 && (number & (number - 1)) == 0; }

Error check_layout(const TensorLayout& layout, size_t bytes) {
  const auto invalid = [](const char* what) {
    return Error::make(ErrorCode::kInvalidArgument, "%s", what);
  };
  if (layout.sizes.size() > kMaxRank || layout.sizes.size() != layout.dim_order.size() ||
      !is_permutation(layout.dim_order)) {
    return invalid("its dim order is not a permutation of its dimensions");
  }
  const size_t element = element_size(layout.dtype);
  if (element == 0) return invalid("its dtype is unknown");
  Result<int64_t> numel = checked_numel(layout.sizes);
  if (!numel.ok()) return numel.take_error();
  const unsigned long long required = static_cast<uint64_t>(*numel) * element;
  if (required != bytes) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "its layout requires %llu bytes, but its data has %zu", required, bytes);
  }
  return Error();
}

class FlatTensorWriter {
 public:
  Result<std::vector<std::byte>> write(std::span<const NamedBytes> entries) {
    uint64_t table_bytes = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      VITRINE_RETURN_IF_ERROR(
          check_entry(entries[i])
              .in("entry %zu (%.*s)", i,
                  static_cast<int>(std::min<size_t>(entries[i].key.size(), 200)),
                  entries[i].key.data()));
      add_segment(entries[i]);
      table_bytes += kMaxEntryBytes + entries[i].key.size();
    }
    if (table_bytes > FLATBUFFERS_MAX_BUFFER_SIZE) {
      return Error::make(ErrorCode::kOutOfResources,
                         "the table of %zu entries may exceed 2 GiB, the maximum size of a "
                         "flatbuffer",
                         entries.size());
    }
    place_segments();
    build_table(entries);
    return assemble();
  }

 private:
  Error check_entry(const NamedBytes& entry) {
    if (entry.key.empty()) return Error::make(ErrorCode::kInvalidArgument, "it has no key");
    if (!keys_.insert(entry.key).second) {
      return Error::make(ErrorCode::kInvalidArgument, "an earlier entry has the same key");
    }
    if (!is_power_of_two(entry.alignment)) {
      return Error::make(ErrorCode::kInvalidArgument, "alignment %zu is not a power of two",
                         entry.alignment);
    }
    return entry.layout ? check_layout(*entry.layout, entry.data.size()) : Error();
  }

  void add_segment(const NamedBytes& entry) {
    const std::string_view text(reinterpret_cast<const char*>(entry.data.data()),
                                entry.data.size());
    const auto [found, is_new] =
        segment_of_bytes_.try_emplace(text, static_cast<uint32_t>(segments_.size()));
    if (is_new) segments_.push_back({.data = entry.data});
    // Both alignments are powers of two, so the larger alignment is their least common multiple.
    Segment& segment = segments_[found->second];
    segment.alignment = std::max(segment.alignment, entry.alignment);
    segment_of_entry_.push_back(found->second);
  }

  void place_segments() {
    for (Segment& segment : segments_) {
      segment.offset = round_up(segments_end_, segment.alignment);
      segments_end_ = segment.offset + segment.data.size();
    }
  }

  void build_table(std::span<const NamedBytes> entries) {
    std::vector<fb::Offset<fbs::DataSegment>> segments;
    for (const Segment& segment : segments_) {
      segments.push_back(fbs::CreateDataSegment(builder_, segment.offset, segment.data.size()));
    }
    std::vector<fb::Offset<fbs::NamedData>> named;
    for (size_t i = 0; i < entries.size(); ++i) {
      fb::Offset<fbs::TensorLayout> layout;
      if (entries[i].layout) {
        const auto sizes =
            builder_.CreateVector(entries[i].layout->sizes.data(), entries[i].layout->sizes.size());
        const auto dim_order = builder_.CreateVector(entries[i].layout->dim_order.data(),
                                                     entries[i].layout->dim_order.size());
        layout = fbs::CreateTensorLayout(
            builder_, static_cast<schema::ScalarType>(entries[i].layout->dtype), sizes, dim_order);
      }
      const auto key = builder_.CreateString(entries[i].key.data(), entries[i].key.size());
      named.push_back(fbs::CreateNamedData(builder_, key, segment_of_entry_[i], layout));
    }
    const auto all_segments = builder_.CreateVector(segments);
    const auto all_named = builder_.CreateVector(named);
    fbs::FinishFlatTensorBuffer(builder_,
                                fbs::CreateFlatTensor(builder_, 0, all_segments, all_named));
  }

  std::vector<std::byte> assemble() const {
    const auto table = std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
    const size_t base = round_up(table.size() + kInsertedBytes, kSegmentAlignment);
    std::vector<std::byte> file(base + segments_end_);
    const auto store = [&file](size_t at, auto number) {
      std::memcpy(file.data() + at, &number, sizeof number);
    };
    std::memcpy(file.data(), table.data(), kInsertedAt);
    const auto root = fb::ReadScalar<uint32_t>(table.data());
    fb::WriteScalar(file.data(), root + kInsertedBytes);
    std::memcpy(file.data() + 8, kHeaderMagic, 4);
    store(12, fb::EndianScalar(kHeaderBytes));
    store(16, fb::EndianScalar(uint64_t{kInsertedBytes}));
    store(24, fb::EndianScalar(uint64_t{table.size()}));
    store(32, fb::EndianScalar(uint64_t{base}));
    store(40, fb::EndianScalar(uint64_t{segments_end_}));
    std::memcpy(file.data() + kInsertedAt + kInsertedBytes, table.data() + kInsertedAt,
                table.size() - kInsertedAt);
    for (const Segment& segment : segments_) {
      if (segment.data.empty()) continue;
      std::memcpy(file.data() + base + segment.offset, segment.data.data(), segment.data.size());
    }
    return file;
  }

  fb::FlatBufferBuilder builder_;
  std::unordered_set<std::string_view> keys_;
  std::unordered_map<std::string_view, uint32_t> segment_of_bytes_;
  std::vector<Segment> segments_;
  std::vector<uint32_t> segment_of_entry_;
  size_t segments_end_ = 0;
};

}  // namespace

Result<std::vector<std::byte>> write_flat_tensor(std::span<const NamedBytes> entries) {
  return FlatTensorWriter().write(entries);
}

}  // namespace vitrine
