#include "vitrine/data_source.h"

#include <cstdlib>
#include <new>

#include "runtime/core/checked_math.h"
#include "runtime/platform/file.h"
#include "vitrine/tensor.h"

namespace vitrine {
namespace {

constexpr size_t kAlignment = 64;

Error outside(uint64_t offset, uint64_t size, uint64_t limit) {
  return Error::make(ErrorCode::kInvalidArgument,
                     "%llu bytes at offset %llu are outside the file of %llu bytes",
                     static_cast<unsigned long long>(size), static_cast<unsigned long long>(offset),
                     static_cast<unsigned long long>(limit));
}

class FileSource final : public DataSource {
 public:
  explicit FileSource(platform::File file) : file_(std::move(file)) {}
  size_t size() const override { return static_cast<size_t>(file_.size()); }
  uint64_t stamp() const override { return file_.is_settled() ? file_.stamp() : 0; }
  Result<DataBuffer> read(uint64_t offset, uint64_t size) const override {
    if (!range_fits(offset, size, file_.size())) return outside(offset, size, file_.size());
    VITRINE_ASSIGN_OR_RETURN(DataBuffer buffer, DataBuffer::allocate(static_cast<size_t>(size)));
    VITRINE_RETURN_IF_ERROR(file_.read(offset, {buffer.owned_data(), buffer.size()}));
    return buffer;
  }

 private:
  platform::File file_;
};

class ViewSource : public DataSource {
 public:
  explicit ViewSource(std::span<const std::byte> bytes, bool has_slack = false)
      : bytes_(bytes), has_slack_(has_slack) {}
  size_t size() const override { return bytes_.size(); }
  Result<DataBuffer> read(uint64_t offset, uint64_t size) const override {
    if (!range_fits(offset, size, bytes_.size())) return outside(offset, size, bytes_.size());
    return DataBuffer(bytes_.subspan(static_cast<size_t>(offset), static_cast<size_t>(size)),
                      has_slack_);
  }

 private:
  std::span<const std::byte> bytes_;
  bool has_slack_;
};

class MappedSource final : public ViewSource {
 public:
  explicit MappedSource(platform::Mapping mapping)
      : ViewSource(mapping.bytes(), /*has_slack=*/true), mapping_(std::move(mapping)) {}
  uint64_t stamp() const override { return mapping_.stamp(); }
  void release(uint64_t offset, uint64_t bytes) const override {
    if (range_fits(offset, bytes, size())) {
      mapping_.release(static_cast<size_t>(offset), static_cast<size_t>(bytes));
    }
  }

 private:
  platform::Mapping mapping_;
};

template <class Source, class Argument>
Result<std::unique_ptr<DataSource>> make_source(Argument&& argument) {
  std::unique_ptr<DataSource> source(new (std::nothrow) Source(std::forward<Argument>(argument)));
  if (!source)
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a data source");
  return source;
}

}  // namespace

void DataBuffer::Free::operator()(void* memory) const { std::free(memory); }

DataBuffer::DataBuffer(DataBuffer&& other) noexcept = default;
DataBuffer& DataBuffer::operator=(DataBuffer&& other) noexcept = default;
DataBuffer::~DataBuffer() = default;

Result<DataBuffer> DataBuffer::allocate(size_t size) {
  DataBuffer buffer;
  size_t with_slack = 0;
  void* memory = nullptr;
  if (!add_overflows(size, kReadableSlack, &with_slack) &&
      ::posix_memalign(&memory, kAlignment, with_slack) == 0) {
    buffer.owned_.reset(memory);
  }
  if (!buffer.owned_) {
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for %zu bytes of data", size);
  }
  buffer.bytes_ = {static_cast<const std::byte*>(buffer.owned_.get()), size};
  buffer.has_slack_ = true;
  return buffer;
}

Result<std::unique_ptr<DataSource>> open_file(const char* path) {
  VITRINE_ASSIGN_OR_RETURN(platform::File file, platform::File::open(path));
  VITRINE_RETURN_IF_ERROR(file.check_addressable(), "%s", path);
  return make_source<FileSource>(std::move(file));
}

Result<std::unique_ptr<DataSource>> map_file(const char* path) {
  VITRINE_ASSIGN_OR_RETURN(platform::File file, platform::File::open(path));
  Result<platform::Mapping> mapping = platform::Mapping::map(file);
  if (!mapping.ok()) return mapping.take_error().in("%s", path);
  return make_source<MappedSource>(std::move(*mapping));
}

Result<std::unique_ptr<DataSource>> view_buffer(std::span<const std::byte> bytes) {
  return make_source<ViewSource>(bytes);
}

}  // namespace vitrine
