// Reads the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/delegates/byte_view.h"

namespace vitrine::delegates {

inline constexpr size_t kMaxMessageDepth = 64;

struct ProtoField {
  uint32_t number = 0;
  uint8_t wire_type = 0;
  uint64_t value = 0;  // set for a varint or a number of fixed size
  Bytes data = {};     // set for a field with a length

  std::string_view text() const { return text_of(data); }
};

class ProtoReader {
 public:
  explicit ProtoReader(Bytes message) : rest_(message) {}
  // Returns false at the end of the message. Throws FormatError if a field does not fit.
  bool next(ProtoField& field);
  uint64_t varint();
  bool at_end() const { return rest_.empty(); }

 private:
  Bytes take(uint64_t size);
  Bytes rest_;
};

// Returns the last field with this number. Empty if the message lacks the field.
ProtoField find_field(Bytes message, uint32_t number);
// Appends the numbers in a repeated field, which may be packed.
void add_varints(const ProtoField& field, std::vector<int64_t>& numbers);

// Calls visit(key, value) for each entry of a map whose keys are strings.
template <class Visit>
void each_map_entry(Bytes message, uint32_t number, const Visit& visit) {
  ProtoReader reader(message);
  for (ProtoField field; reader.next(field);) {
    if (field.number != number || field.wire_type != 2) continue;
    visit(find_field(field.data, 1).text(), find_field(field.data, 2).data);
  }
}

}  // namespace vitrine::delegates
