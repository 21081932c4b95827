#include "backends/xnnpack/runtime/reader/payload.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "backends/xnnpack/runtime/reader/invalid_payload.h"
#include "runtime/core/checked_math.h"
#include "runtime/platform/table_verifier.h"
#include "schema/xnnpack_graph_shapes.h"

namespace vitrine::xnnpack {
namespace {

constexpr size_t kMagicOffset = 4;
constexpr char kHeaderMagic[] = "XH00";
constexpr size_t kHeaderSize = 30;
constexpr size_t kMinFlatbufferSize = 8;
constexpr size_t kFlatbufferAlignment = 16;  // alignment that the schema requires for
                                             // Buffer.storage

template <class T>
T read_at(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool has_magic(std::span<const std::byte> bytes, const char* magic) {
  return std::memcmp(bytes.data() + kMagicOffset, magic, 4) == 0;
}

struct PayloadParts {
  std::span<const std::byte> flatbuffer, constants;
};

Result<PayloadParts> read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderSize) {
    return Error::make(ErrorCode::kInvalidArgument, "XH00 header: needs %zu bytes, found %zu",
                       kHeaderSize, bytes.size());
  }
  const auto header_size = read_at<uint16_t>(bytes, 8);
  const auto flatbuffer_offset = read_at<uint32_t>(bytes, 10);
  const auto flatbuffer_size = read_at<uint32_t>(bytes, 14);
  const auto data_offset = read_at<uint32_t>(bytes, 18);
  const auto data_size = read_at<uint64_t>(bytes, 22);
  if (header_size < kHeaderSize || flatbuffer_offset < header_size) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "XH00 header: header size %u and flatbuffer offset %u are invalid",
                       header_size, flatbuffer_offset);
  }
  if (flatbuffer_size < kMinFlatbufferSize ||
      !range_fits(flatbuffer_offset, flatbuffer_size, bytes.size())) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "XH00 header: flatbuffer of %u bytes at offset %u is too small or not "
                       "inside the payload of %zu bytes",
                       flatbuffer_size, flatbuffer_offset, bytes.size());
  }
  if (!range_fits(data_offset, data_size, bytes.size()) ||
      data_offset < uint64_t{flatbuffer_offset} + flatbuffer_size) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "XH00 header: %" PRIu64
                       " bytes of constants at offset %u are not between the "
                       "flatbuffer and the end of the payload of %zu bytes",
                       data_size, data_offset, bytes.size());
  }
  return PayloadParts{bytes.subspan(flatbuffer_offset, flatbuffer_size),
                      bytes.subspan(data_offset, static_cast<size_t>(data_size))};
}

}  // namespace

Result<Payload> open_payload(std::span<const std::byte> bytes, Budget& steps) {
  if (bytes.size() < kMinFlatbufferSize) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "the payload has only %zu bytes, fewer than the minimum of %zu",
                       bytes.size(), kMinFlatbufferSize);
  }
  Payload payload;
  std::span<const std::byte> flatbuffer = bytes;
  if (has_magic(bytes, kHeaderMagic)) {
    VITRINE_ASSIGN_OR_RETURN(const PayloadParts parts, read_header(bytes));
    flatbuffer = parts.flatbuffer;
    payload.constant_region = parts.constants;
  }
  if (flatbuffer.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    return Error::make(ErrorCode::kInvalidArgument, "a flatbuffer of %zu bytes is too large",
                       flatbuffer.size());
  }
  if (!has_magic(flatbuffer, "XN00") && !has_magic(flatbuffer, "XN01")) {
    return Error::make(ErrorCode::kDelegateInvalidCompatibility,
                       "the flatbuffer's identifier is neither XN00 nor XN01");
  }
  if (reinterpret_cast<uintptr_t>(flatbuffer.data()) % kFlatbufferAlignment != 0) {
    VITRINE_ASSIGN_OR_RETURN(payload.aligned_copy, DataBuffer::allocate(flatbuffer.size()));
    std::ranges::copy(flatbuffer, payload.aligned_copy.owned_data());
    flatbuffer = payload.aligned_copy.bytes();
  }
  if (!verify_tables(flatbuffer, schema::xnnpack::kTableShapes, steps)) {
    if (steps.left() == 0) return too_much_work(steps);
    return Error::make(ErrorCode::kDelegateInvalidCompatibility,
                       "the flatbuffer of %zu bytes is damaged", flatbuffer.size());
  }
  payload.graph = schema::xnnpack::GetXNNGraph(flatbuffer.data());
  return payload;
}

}  // namespace vitrine::xnnpack
