#include "vitrine/extended_header.h"

#include <cstring>

#include "runtime/platform/little_endian.h"

namespace vitrine {
namespace {

constexpr uint32_t kMinLength = 24;
constexpr uint32_t kLengthWithSegmentSize = 32;

}  // namespace

Result<std::optional<ExtendedHeader>> read_extended_header(
    std::span<const std::byte, kProgramHeadBytes> head) {
  if (std::memcmp(head.data() + 8, "eh00", 4) != 0) return std::optional<ExtendedHeader>();
  const auto length = load_little<uint32_t>(head.data() + 12);
  if (length < kMinLength) {
    return Error::make(ErrorCode::kInvalidProgram,
                       "extended header (byte 12): length %u is below %u", length, kMinLength);
  }
  return std::optional<ExtendedHeader>(
      {load_little<uint64_t>(head.data() + 16), load_little<uint64_t>(head.data() + 24),
       length >= kLengthWithSegmentSize ? load_little<uint64_t>(head.data() + 32) : 0});
}

}  // namespace vitrine
