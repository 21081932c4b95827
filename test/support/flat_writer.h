// Writes flatbuffers from field numbers, without a schema. Used in tests of readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/platform/vector_size.h"
#include "test/support/program_builder.h"

namespace vitrine::test {

class FlatWriter {
 public:
  using Offset = uint32_t;

  // A field of a table. If `size` is 0, the field holds an offset. Otherwise, it holds a number of
  // `size` bytes.
  struct Field {
    uint16_t slot;
    uint64_t bits;
    uint8_t size;
  };

  template <class T>
  static Field number(uint16_t slot, T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    return {slot, static_cast<uint64_t>(value), sizeof(T)};
  }
  static Field link(uint16_t slot, Offset target) { return {slot, target, 0}; }

  Offset text(const std::string& text) { return builder_.CreateString(text).o; }
  template <class T>
  Offset numbers(const std::vector<T>& items) {
    return builder_.CreateVector(items).o;
  }
  Offset list(const std::vector<Offset>& targets) {
    std::vector<flatbuffers::Offset<void>> offsets;
    for (const Offset target : targets) offsets.emplace_back(target);
    return builder_.CreateVector(offsets).o;
  }
  Offset table(const std::vector<Field>& fields) {
    const auto start = builder_.StartTable();
    for (const Field& field : fields) add(field);
    return builder_.EndTable(start);
  }
  // Completes the file with `root` as the root table. The identifier has four letters, or is null.
  AlignedBytes finish(Offset root, const char* identifier) {
    builder_.Finish(flatbuffers::Offset<void>(root), identifier);
    const auto* bytes = reinterpret_cast<const std::byte*>(builder_.GetBufferPointer());
    return {bytes, bytes + builder_.GetSize()};
  }

 private:
  static uint16_t at(uint16_t slot) {
    return static_cast<uint16_t>(flatbuffers::FieldIndexToOffset(slot));
  }
  void add(const Field& field) {
    switch (field.size) {
      case 1:
        return builder_.AddElement(at(field.slot), static_cast<uint8_t>(field.bits));
      case 2:
        return builder_.AddElement(at(field.slot), static_cast<uint16_t>(field.bits));
      case 4:
        return builder_.AddElement(at(field.slot), static_cast<uint32_t>(field.bits));
      case 8:
        return builder_.AddElement(at(field.slot), field.bits);
      default:
        return builder_.AddOffset(at(field.slot),
                                  flatbuffers::Offset<void>(static_cast<uint32_t>(field.bits)));
    }
  }

  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace vitrine::test
