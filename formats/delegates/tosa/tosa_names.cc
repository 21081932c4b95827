#include "formats/delegates/tosa/tosa_names.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace vitrine::delegates::tosa {
namespace {

constexpr std::string_view kOperators[] = {"ARGMAX",
                                           "AVG_POOL2D",
                                           "CONV2D",
                                           "CONV3D",
                                           "DEPTHWISE_CONV2D",
                                           "FFT2D",
                                           "MATMUL",
                                           "MAX_POOL2D",
                                           "RFFT2D",
                                           "TRANSPOSE_CONV2D",
                                           "CLAMP",
                                           "ERF",
                                           "SIGMOID",
                                           "TANH",
                                           "ADD",
                                           "ARITHMETIC_RIGHT_SHIFT",
                                           "BITWISE_AND",
                                           "BITWISE_OR",
                                           "BITWISE_XOR",
                                           "INTDIV",
                                           "LOGICAL_AND",
                                           "LOGICAL_LEFT_SHIFT",
                                           "LOGICAL_RIGHT_SHIFT",
                                           "LOGICAL_OR",
                                           "LOGICAL_XOR",
                                           "MAXIMUM",
                                           "MINIMUM",
                                           "MUL",
                                           "POW",
                                           "SUB",
                                           "TABLE",
                                           "ABS",
                                           "BITWISE_NOT",
                                           "CEIL",
                                           "CLZ",
                                           "COS",
                                           "EXP",
                                           "FLOOR",
                                           "LOG",
                                           "LOGICAL_NOT",
                                           "NEGATE",
                                           "RECIPROCAL",
                                           "RSQRT",
                                           "SIN",
                                           "SELECT",
                                           "EQUAL",
                                           "GREATER",
                                           "GREATER_EQUAL",
                                           "REDUCE_ALL",
                                           "REDUCE_ANY",
                                           "REDUCE_MAX",
                                           "REDUCE_MIN",
                                           "REDUCE_PRODUCT",
                                           "REDUCE_SUM",
                                           "CONCAT",
                                           "PAD",
                                           "RESHAPE",
                                           "REVERSE",
                                           "SLICE",
                                           "TILE",
                                           "TRANSPOSE",
                                           "GATHER",
                                           "SCATTER",
                                           "RESIZE",
                                           "CAST",
                                           "RESCALE"};
static_assert(std::size(kOperators) == 66);

}  // namespace

std::string operator_name(uint32_t number) {
  if (number < std::size(kOperators)) return std::string(kOperators[number]);
  return fmt::format("operator {}", number);
}

}  // namespace vitrine::delegates::tosa
