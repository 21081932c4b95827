// Where a program's bytes come from: a file, a mapped file, or a buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "vitrine/error.h"

namespace vitrine {

// Bytes that stay valid for this object's life: owned, or a view of its source.
class DataBuffer {
 public:
  DataBuffer() = default;
  // A view; the source outlives it.
  explicit DataBuffer(std::span<const std::byte> view, bool has_slack = false)
      : bytes_(view), has_slack_(has_slack) {}
  // Out of line, because many callers pass buffers on.
  DataBuffer(DataBuffer&& other) noexcept;
  DataBuffer& operator=(DataBuffer&& other) noexcept;
  ~DataBuffer();
  // Owned; 64-byte aligned, with slack.
  static Result<DataBuffer> allocate(size_t size);

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::byte* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  bool is_owned() const { return owned_ != nullptr; }
  // Whether kReadableSlack bytes (vitrine/tensor.h) past the end can be read too.
  bool has_slack() const { return has_slack_; }
  // Null for a view.
  std::byte* owned_data() { return static_cast<std::byte*>(owned_.get()); }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> owned_;
  std::span<const std::byte> bytes_;
  bool has_slack_ = false;
};

// Thread-safe: several threads may read at once.
class DataSource {
 public:
  virtual ~DataSource() = default;
  virtual size_t size() const = 0;
  // InvalidArgument if the range is not inside the source, AccessFailed if reading fails.
  virtual Result<DataBuffer> read(uint64_t offset, uint64_t size) const = 0;
  // Differs between files, and between states of one file; 0 if unknown without reading the bytes.
  virtual uint64_t stamp() const { return 0; }
  // Says that these bytes are not needed soon. They stay valid, but the pages of a mapped file may
  // leave memory until they are read again. Ranges outside the source are ignored.
  virtual void release(uint64_t /*offset*/, uint64_t /*size*/) const {}
};

// Reads on demand; each read owns its memory.
Result<std::unique_ptr<DataSource>> open_file(const char* path);
// Maps the file once, read-only and private; reads are views that must not outlive the source. The
// file must not be truncated while mapped.
Result<std::unique_ptr<DataSource>> map_file(const char* path);
// Reads are views of `bytes`, which outlive the source.
Result<std::unique_ptr<DataSource>> view_buffer(std::span<const std::byte> bytes);

}  // namespace vitrine
