#include "formats/delegates/flat_table.h"

#include <limits>

namespace vitrine::delegates {
namespace {

constexpr uint64_t kMinSteps = 4096;
constexpr uint64_t kListedTableSteps = 8;  // a table in a vector takes at least 12 bytes
constexpr uint64_t kBytesPerStep = 16;     // for vectors and strings
constexpr size_t kVtableHead = 4;          // size of the vtable and size of the table

}  // namespace

FlatFile::FlatFile(Bytes bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)), steps_(bytes.size() + kMinSteps) {
  if (bytes.size() > std::numeric_limits<int32_t>::max()) fail("is 2 GiB or larger");
}

FlatTable FlatFile::root() const { return {*this, follow(0)}; }

void FlatFile::fail(std::string_view what) const {
  throw FormatError(fmt::format("{}: {}", name_, what));
}

void FlatFile::fail_outside(uint64_t at) const {
  fail(fmt::format("flatbuffer: byte {} is out of range; the flatbuffer has {} bytes", at,
                   bytes_.size()));
}

uint32_t FlatFile::follow(uint64_t at) const {
  const uint64_t target = at + number<uint32_t>(at);
  if (target >= bytes_.size()) fail_outside(target);
  return static_cast<uint32_t>(target);
}

void FlatFile::charge(uint64_t steps) const {
  if (!steps_.take(steps)) {
    fail(
        fmt::format("flatbuffer: reading its shared tables and vectors takes more than {} steps, "
                    "the limit for a file of this size",
                    steps_.limit()));
  }
}

FlatTable::FlatTable(const FlatFile& file, uint32_t position) : file_(&file), position_(position) {
  file.charge(1);
  const int64_t vtable = int64_t{position} - file.number<int32_t>(position);
  if (vtable < 0)
    file.fail(fmt::format("flatbuffer: the table at byte {} has no vtable", position));
  vtable_bytes_ = file.number<uint16_t>(static_cast<uint64_t>(vtable));
  table_bytes_ = file.number<uint16_t>(static_cast<uint64_t>(vtable) + 2);
  vtable_ = static_cast<uint32_t>(vtable);
  if (vtable_bytes_ < kVtableHead || table_bytes_ < kVtableHead) {
    file.fail(fmt::format("flatbuffer: the vtable at byte {} is too short", vtable));
  }
}

uint64_t FlatTable::field(size_t slot) const {
  const size_t entry = kVtableHead + slot * 2;
  if (entry + 2 > vtable_bytes_) return 0;
  const auto offset = file_->number<uint16_t>(uint64_t{vtable_} + entry);
  if (offset == 0) return 0;
  if (offset >= table_bytes_) {
    file_->fail(
        fmt::format("flatbuffer: field {} is outside the table at byte {}", slot, position_));
  }
  return uint64_t{position_} + offset;
}

FlatTable::Elements FlatTable::elements(size_t slot, size_t element_bytes) const {
  const uint64_t at = field(slot);
  if (at == 0) return {};
  const uint32_t vector = file_->follow(at);
  const auto count = file_->number<uint32_t>(vector);
  const uint64_t first = uint64_t{vector} + 4;
  if (first > file_->bytes_.size() || count > (file_->bytes_.size() - first) / element_bytes) {
    file_->fail(fmt::format(
        "flatbuffer: the vector at byte {} has {} elements, which do not fit in the flatbuffer",
        vector, count));
  }
  file_->charge(1 + size_t{count} * element_bytes / kBytesPerStep);
  return {first, count, file_->bytes_.subspan(first, size_t{count} * element_bytes)};
}

std::string_view FlatTable::text(size_t slot) const {
  const Elements found = elements(slot, 1);
  if (found.at != 0) file_->number<uint8_t>(found.at + found.count);  // checks the zero at the end
  return text_of(found.data);
}

std::optional<FlatTable> FlatTable::table(size_t slot) const {
  const uint64_t at = field(slot);
  if (at == 0) return std::nullopt;
  return FlatTable(*file_, file_->follow(at));
}

FlatTable FlatTable::needed_table(size_t slot, std::string_view what) const {
  const auto found = table(slot);
  if (!found) file_->fail(fmt::format("{} is missing", what));
  return *found;
}

std::vector<FlatTable> FlatTable::tables(size_t slot) const {
  const Elements found = elements(slot, 4);
  file_->charge(found.count * (kListedTableSteps - 1));
  std::vector<FlatTable> list;
  list.reserve(found.count);
  for (size_t i = 0; i < found.count; ++i) {
    list.push_back(FlatTable(*file_, file_->follow(found.at + i * 4)));
  }
  return list;
}

std::vector<std::string_view> FlatTable::texts(size_t slot) const {
  const Elements found = elements(slot, 4);
  std::vector<std::string_view> list;
  for (size_t i = 0; i < found.count; ++i) {
    const uint32_t at = file_->follow(found.at + i * 4);
    const auto size = file_->number<uint32_t>(at);
    file_->charge(1 + size / kBytesPerStep);
    list.push_back(text_of(range_of(file_->bytes_, uint64_t{at} + 4, size, file_->name_)));
  }
  return list;
}

}  // namespace vitrine::delegates
