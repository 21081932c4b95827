// A mask and a tensor, broadcast against each other.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/util/layout.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Both layouts have the common sizes. Offsets count elements; mask bytes other than zero are true.
struct Masked {
  Layout self;
  Layout mask;

  // element(offset in self) where the mask is true, in row-major order.
  template <class Element>
  void each_true(const uint8_t* mask_data, Element&& element) const {
    const BoxLoop<2> loop(mask.size_span(), {mask.strides.data(), self.strides.data()},
                          LoopOrder::kRowMajor);
    loop.run({0, 0}, [&](const auto& first, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        if (mask_data[first[0] + i * loop.row_stride(0)] != 0) {
          element(first[1] + i * loop.row_stride(1));
        }
      }
    });
  }
};

// Fails on a mask that is not Bool or Byte, on shapes that do not broadcast, without memory.
[[nodiscard]] std::optional<Masked> broadcast_mask(KernelContext& context, const Tensor& self,
                                                   const Tensor& mask);

}  // namespace vitrine
