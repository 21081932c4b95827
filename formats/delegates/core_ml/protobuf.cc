#include "formats/delegates/core_ml/protobuf.h"

namespace vitrine::delegates {

Bytes ProtoReader::take(uint64_t size) {
  const Bytes taken = range_of(rest_, 0, size, "protobuf field");
  rest_ = rest_.subspan(taken.size());
  return taken;
}

uint64_t ProtoReader::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<uint64_t>(take(1)[0]);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  throw FormatError("protobuf: a number has more than 10 bytes");
}

bool ProtoReader::next(ProtoField& field) {
  if (rest_.empty()) return false;
  const uint64_t tag = varint();
  field = {};
  field.number = static_cast<uint32_t>(tag >> 3);
  field.wire_type = static_cast<uint8_t>(tag & 7);
  if (field.number == 0 || tag >> 3 > UINT32_MAX) throw FormatError("protobuf: field number 0");
  switch (field.wire_type) {
    case 0:
      field.value = varint();
      return true;
    case 1:
      field.value = load_little<uint64_t>(take(8).data());
      return true;
    case 2:
      field.data = take(varint());
      return true;
    case 5:
      field.value = load_little<uint32_t>(take(4).data());
      return true;
    default:
      throw FormatError(fmt::format("protobuf: field {} has wire type {}: expected 0, 1, 2 or 5",
                                    field.number, field.wire_type));
  }
}

ProtoField find_field(Bytes message, uint32_t number) {
  ProtoField found;
  ProtoReader reader(message);
  for (ProtoField field; reader.next(field);) {
    if (field.number == number) found = field;
  }
  return found;
}

void add_varints(const ProtoField& field, std::vector<int64_t>& numbers) {
  if (field.wire_type != 2) {
    numbers.push_back(static_cast<int64_t>(field.value));
    return;
  }
  ProtoReader packed(field.data);
  while (!packed.at_end()) numbers.push_back(static_cast<int64_t>(packed.varint()));
}

}  // namespace vitrine::delegates
