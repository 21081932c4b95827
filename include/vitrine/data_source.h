// DataSource reads the bytes of a program or .ptd file from a file, a mapped file or a buffer.
//
// Sources are thread-safe and immutable. Errors are AccessFailed (with the system's reason),
// NotFound, InvalidArgument and MemoryAllocationFailed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "vitrine/error.h"

namespace vitrine {

// Bytes that this object owns, or a view of bytes of a source. Valid while this object exists.
class DataBuffer {
 public:
  DataBuffer() = default;
  // A view of bytes in a source. The source must outlive the view.
  explicit DataBuffer(std::span<const std::byte> view, bool has_slack = false)
      : bytes_(view), has_slack_(has_slack) {}
  DataBuffer(DataBuffer&& other) noexcept;
  DataBuffer& operator=(DataBuffer&& other) noexcept;
  ~DataBuffer();
  // Allocates an uninitialized buffer that owns its memory. The memory is 64-byte aligned and has
  // slack: has_slack() is true.
  static Result<DataBuffer> allocate(size_t size);

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::byte* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  bool is_owned() const { return owned_ != nullptr; }
  // True if kReadableSlack bytes (vitrine/tensor.h) past the end are readable.
  bool has_slack() const { return has_slack_; }
  // The memory of an owned buffer. Null for a view.
  std::byte* owned_data() { return static_cast<std::byte*>(owned_.get()); }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> owned_;
  std::span<const std::byte> bytes_;
  bool has_slack_ = false;
};

// Thread-safe.
class DataSource {
 public:
  virtual ~DataSource() = default;
  virtual size_t size() const = 0;
  // Returns InvalidArgument if the range is not inside the source, and AccessFailed if reading
  // fails.
  virtual Result<DataBuffer> read(uint64_t offset, uint64_t size) const = 0;
  // Identifies a file and its version: different files or versions have different stamps. 0 means
  // unknown, for example for a buffer, or for a file that changed in the last two seconds before it
  // was opened.
  virtual uint64_t stamp() const { return 0; }
  // Tells the source that a range of bytes is not needed soon. Views stay valid, but the system may
  // drop pages of a mapped file until the next access. Ranges outside the source are ignored.
  virtual void release(uint64_t /*offset*/, uint64_t /*size*/) const {}
};

// Reads the file on demand. The buffer of read() owns its memory.
Result<std::unique_ptr<DataSource>> open_file(const char* path);
// Maps the file once, read-only and private. read() returns views, which must not outlive the
// source. The file must not be truncated while the source exists.
Result<std::unique_ptr<DataSource>> map_file(const char* path);
// read() returns views of `bytes`, which must outlive the source.
Result<std::unique_ptr<DataSource>> view_buffer(std::span<const std::byte> bytes);

}  // namespace vitrine
