// Summarizes the elements of a tensor in a fixed number of bytes.
#pragma once

#include <array>
#include <cstdint>

#include "vitrine/event_tracer.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Statistics of the real numbers that the elements represent. A complex number counts as two
// elements. NaN and infinite elements are counted, but do not affect the other members.
struct ValueSummary {
  static constexpr size_t kBins = 64;

  uint64_t count = 0;
  uint64_t nan = 0;
  uint64_t infinite = 0;
  uint64_t zeros = 0;
  // Number of quantized elements with the smallest or largest integer of their type, which may have
  // been clamped. Elements that represent 0 are not counted, because 0 is a normal result of a
  // relu.
  uint64_t saturated = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double deviation = 0;  // standard deviation of the population
  // Number of elements in each bin. Bins are equal parts of the range from min to max. The last bin
  // includes max. If all elements are equal, the first bin counts all elements.
  std::array<uint64_t, kBins> histogram = {};

  uint64_t finite() const { return count - nan - infinite; }
};

bool can_summarize(ScalarType dtype);

// Precondition: can_summarize(tensor.dtype()), and the tensor is readable. `quantization` may be
// null.
ValueSummary summarize(const Tensor& tensor, const TracedQuantization* quantization);

// Writes the real numbers of an int8 or uint8 tensor to `floats`, in memory order. `floats` has as
// many elements as the tensor.
void dequantize(const Tensor& tensor, const TracedQuantization& quantization, float* floats);

}  // namespace vitrine
