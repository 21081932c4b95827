// Reads fields of flatbuffers by number, and checks every access
// (https://flatbuffers.dev/internals). Foreign payloads may have a newer schema than this build,
// and only the fields that are read need to be valid. Therefore, readers do not use flatc's
// generated code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/delegates/byte_view.h"
#include "vitrine/budget.h"

namespace vitrine::delegates {

class FlatTable;

// A flatbuffer. Limits the number of reading steps, because a small file with shared tables and
// vectors can expand to any size.
class FlatFile {
 public:
  // Error texts begin with `name`.
  FlatFile(Bytes bytes, std::string name);
  FlatFile(const FlatFile&) = delete;
  FlatFile& operator=(const FlatFile&) = delete;

  FlatTable root() const;
  bool has_identifier(std::string_view identifier) const {
    return has_text_at(bytes_, 4, identifier);
  }
  [[noreturn]] void fail(std::string_view what) const;

 private:
  friend class FlatTable;
  // Reads the offset at position `at` and returns the position to which it points.
  uint32_t follow(uint64_t at) const;
  template <class T>
  T number(uint64_t at) const {
    if (at > bytes_.size() || sizeof(T) > bytes_.size() - at) fail_outside(at);
    return load_little<T>(bytes_.data() + at);
  }
  void charge(uint64_t steps) const;
  [[noreturn]] void fail_outside(uint64_t at) const;

  Bytes bytes_;
  std::string name_;
  mutable Budget steps_;
};

// A table in a FlatFile. The FlatFile must outlive the table. `slot` is the number of a field, from
// 0; a union takes two slots. Functions throw a FormatError if the field is not inside the file.
class FlatTable {
 public:
  bool has(size_t slot) const { return field(slot) != 0; }

  template <class T>
  T number(size_t slot, T absent = {}) const {
    const uint64_t at = field(slot);
    return at == 0 ? absent : file_->number<T>(at);
  }
  bool flag(size_t slot, bool absent = false) const {
    return number<uint8_t>(slot, absent ? 1 : 0) != 0;
  }
  // Returns an empty text if the field is absent.
  std::string_view text(size_t slot) const;
  std::optional<FlatTable> table(size_t slot) const;
  // Throws a FormatError if the field is absent. `what` names the missing field.
  FlatTable needed_table(size_t slot, std::string_view what) const;
  std::vector<FlatTable> tables(size_t slot) const;
  std::vector<std::string_view> texts(size_t slot) const;
  Bytes bytes(size_t slot) const { return elements(slot, 1).data; }
  Bytes bytes_of(size_t slot, size_t element_bytes) const {
    return elements(slot, element_bytes).data;
  }
  template <class T>
  std::vector<T> numbers(size_t slot) const {
    const Elements found = elements(slot, sizeof(T));
    std::vector<T> values(found.count);
    for (size_t i = 0; i < found.count; ++i) {
      values[i] = load_little<T>(found.data.data() + i * sizeof(T));
    }
    return values;
  }
  uint32_t position() const { return position_; }

 private:
  friend class FlatFile;
  struct Elements {
    uint64_t at = 0;  // position of the first element
    size_t count = 0;
    Bytes data = {};
  };
  FlatTable(const FlatFile& file, uint32_t position);
  uint64_t field(size_t slot) const;
  Elements elements(size_t slot, size_t element_bytes) const;

  const FlatFile* file_;
  uint32_t position_;
  uint32_t vtable_ = 0;
  uint16_t vtable_bytes_ = 0;
  uint16_t table_bytes_ = 0;
};

}  // namespace vitrine::delegates
