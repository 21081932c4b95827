#include "runtime/platform/table_verifier.h"

#include <cstring>

namespace vitrine {
namespace {

// Represents an absent element, because byte 0 belongs to the buffer's header.
constexpr uint64_t kNowhere = 0;
// Maximum size of a buffer, because some offsets are signed 32-bit numbers.
constexpr uint64_t kMaxFlatbufferBytes = INT32_MAX;

class Walk {
 public:
  Walk(std::span<const std::byte> bytes, const TableShapes& shapes, Budget& steps)
      : bytes_(bytes), shapes_(shapes), steps_(steps) {}

  // `position` may be misaligned or outside the buffer.
  bool table(uint64_t position, size_t which) {
    if (!steps_.take(1) || !holds(position, 4, 4)) return false;
    // The offset may be negative. Positions that wrap around are outside the buffer.
    const uint64_t vtable =
        position - static_cast<uint64_t>(static_cast<int64_t>(read<int32_t>(position)));
    if (!holds(vtable, 2, 2)) return false;
    const uint64_t vtable_bytes = read<uint16_t>(vtable);
    if (vtable_bytes % 2 != 0 || !holds(vtable, vtable_bytes, 2)) return false;
    uint64_t before = kNowhere;
    const std::span fields(shapes_.fields + shapes_.starts[which],
                           shapes_.fields + shapes_.starts[which + 1]);
    for (size_t i = 0; i < fields.size(); ++i) {
      const uint64_t entry = 4 + 2 * i;  // the vtable begins with two sizes: its own, the table's
      const uint64_t offset = entry < vtable_bytes ? read<uint16_t>(vtable + entry) : 0;
      const uint64_t here = offset != 0 ? position + offset : kNowhere;
      if (here != kNowhere && !field(here, before, fields[i])) return false;
      before = here;
    }
    return true;
  }

  // Returns the target of the offset at `position`, or kNowhere if the offset is invalid.
  uint64_t follow(uint64_t position) const {
    if (!holds(position, 4, 4)) return kNowhere;
    const uint64_t offset = read<uint32_t>(position);
    return offset != 0 && offset <= kMaxFlatbufferBytes && holds(position + offset, 1, 1)
               ? position + offset
               : kNowhere;
  }

 private:
  // Verifies the field at `position`. `before` is the position of the previous field, or kNowhere
  // if the table omits the previous field.
  bool field(uint64_t position, uint64_t before, const FieldShape& shape) {
    if (shape.kind == FieldShape::kScalar) return holds(position, shape.argument, shape.argument);
    const uint64_t target = follow(position);
    if (target == kNowhere) return false;
    switch (shape.kind) {
      case FieldShape::kString:
        return string(target);
      case FieldShape::kVector:
        return vector(target, shape.argument);
      case FieldShape::kTable:
        return table(target, shape.argument);
      case FieldShape::kTables:
        return tables(target, shape.argument);
      default: {
        const uint8_t type = before != kNowhere ? read<uint8_t>(before) : 0;
        return type == 0 || type > shape.count ||
               table(target, shapes_.unions[size_t{shape.argument} + type - 1]);
      }
    }
  }

  bool vector(uint64_t position, uint64_t element_bytes) const {
    if (!holds(position, 4, 4)) return false;
    const uint64_t count = read<uint32_t>(position);
    return holds(position, 4 + count * element_bytes, 4) &&
           (count == 0 || (position + 4) % element_bytes == 0);
  }
  bool string(uint64_t position) const {
    if (!vector(position, 1)) return false;
    const uint64_t end = position + 4 + read<uint32_t>(position);
    return holds(end, 1, 1) && bytes_[static_cast<size_t>(end)] == std::byte{0};
  }
  bool tables(uint64_t position, size_t which) {
    if (!vector(position, 4)) return false;
    const uint64_t count = read<uint32_t>(position);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t element = position + 4 + 4 * i;
      if (!table(element + read<uint32_t>(element), which)) return false;
    }
    return true;
  }

  bool holds(uint64_t position, uint64_t size, uint64_t alignment) const {
    return position % alignment == 0 && position < bytes_.size() &&
           size <= bytes_.size() - position;
  }
  // Precondition: holds() has returned true for these bytes.
  template <class T>
  T read(uint64_t position) const {
    T value;
    std::memcpy(&value, bytes_.data() + position, sizeof value);
    return value;
  }

  std::span<const std::byte> bytes_;
  const TableShapes& shapes_;
  Budget& steps_;
};

}  // namespace

bool verify_tables(std::span<const std::byte> bytes, const TableShapes& shapes, Budget& steps,
                   size_t start) {
  if (bytes.size() >= kMaxFlatbufferBytes) return false;
  Walk walk(bytes, shapes, steps);
  const uint64_t position = walk.follow(start);
  return position != kNowhere && walk.table(position, shapes.root);
}

Error too_many_items(const Budget& steps) {
  return Error::make(ErrorCode::kOutOfResources,
                     "checking the file takes more than %llu steps (the limit is one step per "
                     "byte): the file refers to the same tables, lists or keys many times",
                     static_cast<unsigned long long>(steps.limit()));
}

}  // namespace vitrine
