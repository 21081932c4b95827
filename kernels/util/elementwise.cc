#include "kernels/util/elementwise.h"

#include <algorithm>

#include "kernels/util/box_loop.h"
#include "kernels/util/broadcast.h"
#include "kernels/util/convert.h"

namespace vitrine {

namespace {

constexpr size_t kOperands = Elementwise::kMaxInputs + 1;
using Loop = BoxLoop<kOperands>;

struct ElementwiseOperand {
  Conversion conversion;
  std::byte* data;
  int64_t element_size;
  int64_t stride;  // between neighbors in a row, in elements

  bool is_direct() const { return conversion.identity() && stride == 1; }
};

// Operand 0 is the output.
struct ElementwiseOperands {
  // The caller sets `items`, because zeroing the array takes long.
  ElementwiseOperands(const Elementwise& from, size_t inputs) : call(from), count(inputs + 1) {}

  const Elementwise& call;
  size_t count;
  ElementwiseOperand items[kOperands];

  void run_row(const Loop::Offsets& start, int64_t length) const {
    Chunk buffers[kOperands];
    for (int64_t done = 0; done < length; done += kChunkLength) {
      const int64_t chunk = std::min(kChunkLength, length - done);
      const auto at = [&](size_t k) {
        return items[k].data + (start[k] + done * items[k].stride) * items[k].element_size;
      };
      const void* run_inputs[Elementwise::kMaxInputs];
      for (size_t k = 1; k < count; ++k) {
        run_inputs[k - 1] = at(k);
        if (items[k].is_direct()) continue;
        items[k].conversion.run(at(k), items[k].stride, &buffers[k], 1, chunk);
        run_inputs[k - 1] = &buffers[k];
      }
      const bool is_direct = items[0].is_direct();
      call.run(call.op, run_inputs, is_direct ? at(0) : buffers[0].bytes, chunk);
      if (!is_direct) items[0].conversion.run(&buffers[0], 1, at(0), items[0].stride, chunk);
    }
  }
};

void run_general(KernelContext& context, std::span<const Tensor* const> inputs, Tensor& out,
                 ElementwiseOperands& operands) {
  const std::span<const int32_t> shape = out.sizes();
  std::array<int64_t, kMaxRank> sizes;
  std::ranges::copy(shape, sizes.begin());
  int64_t strides[kOperands][kMaxRank];
  for (size_t k = 0; k < kOperands; ++k) {
    if (k > inputs.size()) {
      std::fill_n(strides[k], shape.size(), 0);
      continue;
    }
    const Tensor& tensor = k == 0 ? out : *inputs[k - 1];
    if (!check_broadcastable(context, tensor, shape)) return;
    broadcast_strides(tensor, shape.size(), strides[k]);
  }
  const Loop loop(std::span<const int64_t>(sizes.data(), shape.size()),
                  {strides[0], strides[1], strides[2], strides[3]});
  for (size_t k = 0; k < operands.count; ++k) operands.items[k].stride = loop.row_stride(k);
  loop.run({},
           [&](const Loop::Offsets& start, int64_t length) { operands.run_row(start, length); });
}

}  // namespace

void run_elementwise(KernelContext& context, const Elementwise& call,
                     std::span<const Tensor* const> inputs, Tensor& out) {
  if (!can_cast(call.result, out.dtype())) {
    return context.fail(ErrorCode::kInvalidArgument, "a result of dtype %s cannot be stored as %s",
                        scalar_type_name(call.result), scalar_type_name(out.dtype()));
  }
  ElementwiseOperands operands(call, inputs.size());
  // One row covers all elements if every input has one element or the layout of `out`.
  bool is_row = true;
  bool has_shape = false;
  for (size_t k = 0; k < operands.count; ++k) {
    const Tensor& tensor = k == 0 ? out : *inputs[k - 1];
    ElementwiseOperand& operand = operands.items[k];
    if (!(k == 0 ? operand.conversion.set(call.run_out, call.common, tensor.dtype())
                 : operand.conversion.set(tensor.dtype(), call.common, call.run_inputs[k - 1]))) {
      return fail_unsupported_dtype(context, tensor.dtype());
    }
    operand.data = const_cast<std::byte*>(tensor.unchecked_data<std::byte>());
    operand.element_size = static_cast<int64_t>(tensor.element_size());
    const bool same = k == 0 || (tensor.same_sizes(out) && tensor.same_dim_order(out));
    operand.stride = same || out.numel() == 1 ? 1 : 0;
    has_shape = has_shape || (k != 0 && same);
    is_row = is_row && (same || (tensor.numel() == 1 && tensor.rank() <= out.rank()));
  }
  if (is_row && has_shape) return operands.run_row({}, out.numel());
  int32_t storage[kMaxRank];
  const auto sizes = broadcast_sizes(context, inputs, storage);
  if (sizes && context.resize(out, *sizes)) run_general(context, inputs, out, operands);
}

}  // namespace vitrine
