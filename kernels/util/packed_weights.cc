#include "kernels/util/packed_weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "runtime/core/checked_math.h"

namespace vitrine {

namespace {

constexpr int64_t kRun = 32;  // int4 values per 16 bytes
constexpr int64_t kHalfColumns = PackedWeights::kPacketColumns / 2;
constexpr int64_t kPacketValues = PackedWeights::kRows * PackedWeights::kPacketColumns;

struct Header {
  int32_t magic, type, bits, has_zeros, has_bias, rows_of_block, packet_columns, halves;
  std::array<int32_t, 8> reserved;
};
static_assert(sizeof(Header) == 64);
constexpr int32_t kMagic = 6712;
constexpr int32_t kUniversal = 1;
// Maximum group size for which sums of products of int8 values fit into int32.
constexpr int64_t kMaxGroup = 1 << 16;
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();

void unpack_packet(const std::byte* packed, int64_t bits, int8_t* values) {
  if (bits == 8) {
    std::memcpy(values, packed, kPacketValues);
    return;
  }
  for (int64_t i = 0; i < kPacketValues / 2; ++i) {
    const auto byte = std::to_integer<int>(packed[i]);
    int8_t* const low = values + i / (kRun / 2) * kRun + i % (kRun / 2);
    low[0] = static_cast<int8_t>((byte & 15) - 8);
    low[kRun / 2] = static_cast<int8_t>((byte >> 4) - 8);
  }
}

}  // namespace

bool PackedWeights::read(KernelContext& context, const void* data, size_t size, const Shape& shape,
                         const char* name) {
  const auto [rows, columns, group, bits] = shape;
  if (rows < 0 || rows > kMaxSize || columns <= 0 || columns > kMaxSize || group > kMaxGroup ||
      (bits != 4 && bits != 8) || group <= 0 || group % kPacketColumns != 0 ||
      columns % group != 0) {
    context.fail(
        ErrorCode::kInvalidArgument,
        "%s: found %lld x %lld weights of %lld bits in groups of %lld, expected 4 or 8 bits, and a "
        "group size that is a multiple of 16 and divides the number of columns",
        name, static_cast<long long>(rows), static_cast<long long>(columns),
        static_cast<long long>(bits), static_cast<long long>(group));
    return false;
  }
  Header header{};
  if (size >= sizeof(header)) std::memcpy(&header, data, sizeof(header));
  if (header.magic != kMagic || header.type != kUniversal || header.bits != bits ||
      header.has_zeros != 0 || (header.has_bias & ~1) != 0 || header.rows_of_block != kRows ||
      header.packet_columns != kPacketColumns || header.halves != 2) {
    context.fail(
        ErrorCode::kInvalidArgument,
        "%s: expected weights of %lld bits in torchao's universal layout (8 rows, 16 columns, no "
        "zero points); pack them for the target \"universal\"",
        name, static_cast<long long>(bits));
    return false;
  }
  shape_ = shape;
  has_bias_ = header.has_bias != 0;
  group_bytes_ =
      group * bits + 2 * kRows * int64_t{sizeof(float)};  // 8 rows of group * bits / 8 bytes
  const auto block_bytes = checked_product({group_bytes_, groups()});
  const auto bytes = block_bytes
                         ? checked_product({*block_bytes + (has_bias_ ? kRows * 4 : 0), blocks()})
                         : block_bytes;
  if (!bytes || static_cast<uint64_t>(*bytes) != size - sizeof(header)) {
    context.fail(
        ErrorCode::kInvalidArgument,
        "%s: %zu bytes is not the size of %lld x %lld weights of %lld bits in groups of %lld", name,
        size, static_cast<long long>(rows), static_cast<long long>(columns),
        static_cast<long long>(bits), static_cast<long long>(group));
    return false;
  }
  block_bytes_ = *block_bytes + (has_bias_ ? kRows * 4 : 0);
  blocks_ = static_cast<const std::byte*>(data) + sizeof(header);
  return true;
}

void PackedWeights::unpack(int64_t block, int64_t group, int8_t* values, float* scales) const {
  const std::byte* packed = block_at(block) + group * group_bytes_;
  std::array<int8_t, kPacketValues> packet;
  for (int64_t column = 0; column < shape_.group_size; column += kPacketColumns) {
    unpack_packet(packed, shape_.bits, packet.data());
    packed += kPacketValues * shape_.bits / 8;
    for (int64_t i = 0; i < kPacketValues; ++i) {
      const int64_t half = i / (kRows * kHalfColumns);
      const int64_t row = i / kHalfColumns % kRows;
      values[(column + half * kHalfColumns + i % kHalfColumns) * kRows + row] =
          packet[static_cast<size_t>(i)];
    }
  }
  std::memcpy(scales, packed, kRows * sizeof(float));
}

void PackedWeights::unpack_biases(int64_t block, float* biases) const {
  std::fill_n(biases, kRows, 0.0F);
  if (has_bias_) {
    std::memcpy(biases, block_at(block) + groups() * group_bytes_, kRows * sizeof(float));
  }
}

}  // namespace vitrine
