#include "backends/xnnpack/runtime/reader/datatype.h"

#include "runtime/core/checked_math.h"

namespace vitrine::xnnpack {
namespace {

struct Row {
  schema::xnnpack::XNNDatatype tag;
  Datatype datatype;
};

using Tag = schema::xnnpack::XNNDatatype;
using Quant = Quantization;

// 4-bit weights are stored with 8 added, so their zero point is 8.
constexpr Row kDatatypes[] = {
    {Tag::xnn_datatype_fp32,
     {"fp32", xnn_datatype_fp32, 32, Quant::kNone, 0, 0, ScalarType::kFloat}},
    {Tag::xnn_datatype_fp16,
     {"fp16", xnn_datatype_fp16, 16, Quant::kNone, 0, 0, ScalarType::kHalf}},
    {Tag::xnn_datatype_qint8,
     {"qint8", xnn_datatype_qint8, 8, Quant::kPerTensor, -128, 127, ScalarType::kChar}},
    {Tag::xnn_datatype_quint8,
     {"quint8", xnn_datatype_quint8, 8, Quant::kPerTensor, 0, 255, ScalarType::kByte}},
    {Tag::xnn_datatype_qint32,
     {"qint32", xnn_datatype_qint32, 32, Quant::kPerTensor, 0, 0, std::nullopt}},
    {Tag::xnn_datatype_qcint8,
     {"qcint8", xnn_datatype_qcint8, 8, Quant::kPerChannel, 0, 0, std::nullopt}},
    {Tag::xnn_datatype_qcint32,
     {"qcint32", xnn_datatype_qcint32, 32, Quant::kPerChannel, 0, 0, std::nullopt}},
    {Tag::xnn_datatype_qcint4,
     {"qcint4", xnn_datatype_qcint4, 4, Quant::kPerChannel, 8, 8, std::nullopt}},
    {Tag::xnn_datatype_qdint8,
     {"qdint8", xnn_datatype_qdint8, 8, Quant::kPerToken, 0, 0, std::nullopt}},
    {Tag::xnn_datatype_qbint4,
     {"qbint4", xnn_datatype_qbint4, 4, Quant::kPerBlock, 8, 8, std::nullopt}},
    {Tag::xnn_datatype_int32,
     {"int32", xnn_datatype_int32, 32, Quant::kNone, 0, 0, ScalarType::kInt}},
};

}  // namespace

const Datatype* find_datatype(schema::xnnpack::XNNDatatype tag) {
  for (const Row& row : kDatatypes) {
    if (row.tag == tag) return &row.datatype;
  }
  return nullptr;
}

std::optional<size_t> tensor_bytes(const Datatype& datatype, const Shape& shape) {
  size_t bytes = datatype.bits < 8 ? 1 : datatype.bits / 8;
  for (size_t i = 0; i < shape.rank; ++i) {
    const bool packed_row = datatype.bits < 8 && i + 1 == shape.rank;
    const size_t extent = packed_row ? shape[i] / 2 + shape[i] % 2 : shape[i];
    if (mul_overflows(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace vitrine::xnnpack
