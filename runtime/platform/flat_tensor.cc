#include "vitrine/flat_tensor.h"

#include <cstring>
#include <new>

#include "runtime/core/checked_math.h"
#include "runtime/platform/format_version.h"
#include "runtime/platform/key_index.h"
#include "runtime/platform/little_endian.h"
#include "runtime/platform/table_verifier.h"
#include "schema/flat_tensor_generated.h"
#include "schema/flat_tensor_shapes.h"
#include "vitrine/tensor.h"

namespace vitrine {
namespace {

namespace fbs = schema::flat_tensor;

constexpr size_t kHeadBytes = 64;
constexpr size_t kMagicOffset = 8;
constexpr char kMagic[] = "FH01";
constexpr uint32_t kMinHeaderLength = 40;

struct Header {
  uint64_t flatbuffer_end;
  uint64_t segment_base;
  uint64_t segment_bytes;
};

Error invalid(const char* what) {
  return Error::make(ErrorCode::kInvalidExternalData, "not a valid .ptd file: %s", what);
}

Result<Header> read_header(const DataSource& source) {
  if (source.size() < kHeadBytes) return invalid("it has fewer than 64 bytes");
  VITRINE_ASSIGN_OR_RETURN(const DataBuffer head, source.read(0, kHeadBytes));
  const std::byte* bytes = head.data();
  if (std::memcmp(bytes + 4, "FT01", 4) != 0) return invalid("no identifier FT01 at byte 4");
  if (std::memcmp(bytes + kMagicOffset, kMagic, 4) != 0) return invalid("no header FH01 at byte 8");
  if (load_little<uint32_t>(bytes + 12) < kMinHeaderLength)
    return invalid("the header has fewer than 40 bytes");
  const auto offset = load_little<uint64_t>(bytes + 16);
  const auto size = load_little<uint64_t>(bytes + 24);
  Header header{0, load_little<uint64_t>(bytes + 32), load_little<uint64_t>(bytes + 40)};
  if (add_overflows(offset, size, &header.flatbuffer_end) ||
      header.flatbuffer_end > source.size()) {
    return invalid("the flatbuffer extends past the end of the file");
  }
  if (header.flatbuffer_end < kMagicOffset + kMinHeaderLength) {
    return invalid("the flatbuffer ends inside the header");
  }
  if (!range_fits(header.segment_base, header.segment_bytes, source.size())) {
    return invalid("the segments extend past the end of the file");
  }
  return header;
}

class FlatTensorMap final : public NamedDataMap {
 public:
  FlatTensorMap(std::unique_ptr<DataSource> source, DataBuffer body, const Header& header)
      : source_(std::move(source)),
        body_(std::move(body)),
        root_(fbs::GetFlatTensor(body_.data())),
        header_(header) {}

  Error verify() {
    // One step per byte suffices, unless several offsets refer to the same table or key.
    Budget steps(body_.size());
    if (!verify_tables(body_.bytes(), fbs::kTableShapes, steps)) {
      return invalid("its flatbuffer is damaged");
    }
    VITRINE_RETURN_IF_ERROR(
        check_version(".ptd file", root_->version(), ErrorCode::kInvalidExternalData));
    if (root_->named_data() == nullptr || root_->segments() == nullptr) {
      return invalid(
          "named_data or segments is missing (the layout of ExecuTorch 0.6 is not supported)");
    }
    for (uint32_t i = 0; i < root_->segments()->size(); ++i) {
      const fbs::DataSegment* segment = root_->segments()->Get(i);
      if (!range_fits(segment->offset(), segment->size(), header_.segment_bytes)) {
        return Error::make(ErrorCode::kInvalidExternalData,
                           "segments[%u]: outside the %llu bytes of segment data", i,
                           static_cast<unsigned long long>(header_.segment_bytes));
      }
    }
    for (uint32_t i = 0; i < root_->named_data()->size(); ++i) {
      VITRINE_RETURN_IF_ERROR(verify_entry(*root_->named_data()->Get(i)), "named_data[%u]", i);
    }
    return index_.build(*this, steps);
  }

  size_t size() const override { return root_->named_data()->size(); }
  std::string_view key(size_t index) const override {
    if (index >= size()) return {};
    return root_->named_data()->Get(static_cast<uint32_t>(index))->key()->string_view();
  }
  Result<DataBuffer> get(std::string_view key) const override {
    const fbs::NamedData* entry = find(key);
    if (entry == nullptr) return missing(key);
    const fbs::DataSegment* segment = root_->segments()->Get(entry->segment_index());
    return source_->read(header_.segment_base + segment->offset(), segment->size());
  }
  uint64_t stamp() const override { return source_->stamp(); }
  uint64_t file_bytes() const override { return source_->size(); }
  void release(std::string_view key) const override {
    const fbs::NamedData* entry = find(key);
    if (entry == nullptr) return;
    const fbs::DataSegment* segment = root_->segments()->Get(entry->segment_index());
    source_->release(header_.segment_base + segment->offset(), segment->size());
  }
  Result<std::optional<TensorLayout>> layout(std::string_view key) const override {
    const fbs::NamedData* entry = find(key);
    if (entry == nullptr) return missing(key);
    const fbs::TensorLayout* layout = entry->tensor_layout();
    if (layout == nullptr) return std::optional<TensorLayout>();
    return std::optional<TensorLayout>(
        {static_cast<ScalarType>(layout->scalar_type()),
         {layout->sizes()->data(), layout->sizes()->size()},
         {layout->dim_order()->data(), layout->dim_order()->size()}});
  }

 private:
  Error verify_entry(const fbs::NamedData& entry) const {
    if (entry.key() == nullptr) return invalid("key is missing");
    if (entry.segment_index() >= root_->segments()->size()) return invalid("no such segment");
    const fbs::TensorLayout* layout = entry.tensor_layout();
    if (layout == nullptr) return Error();
    if (layout->sizes() == nullptr || layout->dim_order() == nullptr) {
      return invalid("tensor_layout has no sizes or dim_order");
    }
    if (layout->sizes()->size() > kMaxRank ||
        layout->sizes()->size() != layout->dim_order()->size() ||
        !is_permutation({layout->dim_order()->data(), layout->dim_order()->size()})) {
      return invalid("tensor_layout.dim_order is not a permutation of its dimensions");
    }
    const Result<int64_t> numel = checked_numel({layout->sizes()->data(), layout->sizes()->size()});
    if (!numel.ok()) return invalid(numel.error().message()).in("tensor_layout.sizes");
    const size_t element = element_size(static_cast<ScalarType>(layout->scalar_type()));
    if (element == 0) return invalid("tensor_layout.scalar_type is unknown");
    if (static_cast<uint64_t>(*numel) * element >
        root_->segments()->Get(entry.segment_index())->size()) {
      return invalid("the tensor is larger than its segment");
    }
    return Error();
  }

  const fbs::NamedData* find(std::string_view key) const {
    const size_t at = index_.find(key);
    return at != KeyIndex::kNotFound ? root_->named_data()->Get(static_cast<uint32_t>(at))
                                     : nullptr;
  }
  static Error missing(std::string_view key) {
    return Error::make(ErrorCode::kNotFound, "the .ptd file has no data for key %.*s",
                       static_cast<int>(key.size()), key.data());
  }

  std::unique_ptr<DataSource> source_;
  DataBuffer body_;
  const fbs::FlatTensor* root_;
  Header header_;
  KeyIndex index_;
};

}  // namespace

Result<std::unique_ptr<NamedDataMap>> load_flat_tensor(std::unique_ptr<DataSource> source) {
  VITRINE_ASSIGN_OR_RETURN(const Header header, read_header(*source));
  VITRINE_ASSIGN_OR_RETURN(DataBuffer body, source->read(0, header.flatbuffer_end));
  if (reinterpret_cast<uintptr_t>(body.data()) % alignof(std::max_align_t) != 0) {
    return Error::make(ErrorCode::kInvalidArgument, "the buffer is not aligned to 16 bytes");
  }
  std::unique_ptr<FlatTensorMap> map(new (std::nothrow)
                                         FlatTensorMap(std::move(source), std::move(body), header));
  if (!map) return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a data map");
  VITRINE_RETURN_IF_ERROR(map->verify());
  return std::unique_ptr<NamedDataMap>(std::move(map));
}

}  // namespace vitrine
