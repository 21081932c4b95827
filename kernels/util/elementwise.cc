#include "kernels/util/elementwise.h"

#include <algorithm>

#include "kernels/util/box_loop.h"
#include "kernels/util/broadcast.h"
#include "kernels/util/convert.h"

namespace vitrine {

namespace {

constexpr size_t kOperands = Elementwise::kMaxInputs + 1;

void run_general(KernelContext& context, const Elementwise& call,
                 std::span<const Tensor* const> inputs, Tensor& out) {
  Conversion conversions[kOperands];
  bool supported = conversions[0].set(call.run_out, call.common, out.dtype());
  for (size_t i = 0; i < inputs.size(); ++i) {
    supported =
        supported && conversions[i + 1].set(inputs[i]->dtype(), call.common, call.run_inputs[i]);
    if (!supported) return fail_unsupported_dtype(context, inputs[i]->dtype());
  }

  const std::span<const int32_t> shape = out.sizes();
  std::array<int64_t, kMaxRank> sizes;
  std::ranges::copy(shape, sizes.begin());
  // Operand 0 is the output. Unused operands have strides of zero.
  int64_t strides[kOperands][kMaxRank];
  for (auto& each : strides) std::fill_n(each, shape.size(), 0);
  const std::byte* data[kOperands] = {};
  int64_t element_sizes[kOperands] = {};
  for (size_t k = 0; k <= inputs.size(); ++k) {
    const Tensor& tensor = k == 0 ? out : *inputs[k - 1];
    if (!check_broadcastable(context, tensor, shape)) return;
    broadcast_strides(tensor, shape.size(), strides[k]);
    data[k] = tensor.unchecked_data<std::byte>();
    element_sizes[k] = static_cast<int64_t>(tensor.element_size());
  }
  std::byte* const out_data = out.unchecked_mutable_data<std::byte>();

  using Loop = BoxLoop<kOperands>;
  const Loop loop(std::span<const int64_t>(sizes.data(), shape.size()),
                  {strides[0], strides[1], strides[2], strides[3]});
  const bool out_direct = conversions[0].identity() && loop.row_stride(0) == 1;
  Chunk buffers[kOperands];
  loop.run({}, [&](const Loop::Offsets& start, int64_t length) {
    for (int64_t done = 0; done < length; done += kChunkLength) {
      const int64_t count = std::min(kChunkLength, length - done);
      const auto byte_offset = [&](size_t k) {
        return (start[k] + done * loop.row_stride(k)) * element_sizes[k];
      };
      const void* run_inputs[Elementwise::kMaxInputs];
      for (size_t i = 0; i < inputs.size(); ++i) {
        const size_t k = i + 1;
        const std::byte* from = data[k] + byte_offset(k);
        if (conversions[k].identity() && loop.row_stride(k) == 1) {
          run_inputs[i] = from;
        } else {
          conversions[k].run(from, loop.row_stride(k), &buffers[k], 1, count);
          run_inputs[i] = &buffers[k];
        }
      }
      std::byte* to = out_data + byte_offset(0);
      call.run(call.op, run_inputs, out_direct ? to : buffers[0].bytes, count);
      if (!out_direct) conversions[0].run(&buffers[0], 1, to, loop.row_stride(0), count);
    }
  });
}

// Computes a small result without a general loop. Returns false without changing `out` unless `out`
// has its final shape and every input is one element or has the layout of `out`.
bool run_small(const Elementwise& call, std::span<const Tensor* const> inputs, Tensor& out) {
  const int64_t count = out.numel();
  Conversion to_out;
  if (count > kChunkLength || !to_out.set(call.run_out, call.common, out.dtype())) return false;
  Chunk buffers[kOperands];
  const void* run_inputs[Elementwise::kMaxInputs];
  bool has_shape = false;  // true if an input has the shape of `out`
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = *inputs[i];
    const bool same = tensor.same_sizes(out) && tensor.same_dim_order(out);
    Conversion conversion;
    if ((!same && (tensor.numel() != 1 || tensor.rank() > out.rank())) ||
        !conversion.set(tensor.dtype(), call.common, call.run_inputs[i])) {
      return false;
    }
    has_shape = has_shape || same;
    run_inputs[i] = &buffers[i];
    if (conversion.identity() && (same || count == 1)) {
      run_inputs[i] = tensor.raw_data();
    } else {
      conversion.run(tensor.raw_data(), same ? 1 : 0, &buffers[i], 1, count);
    }
  }
  if (!has_shape) return false;
  const bool direct = to_out.identity();
  void* const to = direct ? out.mutable_raw_data() : &buffers[inputs.size()];
  call.run(call.op, run_inputs, to, count);
  if (!direct) to_out.run(to, 1, out.mutable_raw_data(), 1, count);
  return true;
}

}  // namespace

void run_elementwise(KernelContext& context, const Elementwise& call,
                     std::span<const Tensor* const> inputs, Tensor& out) {
  if (!can_cast(call.result, out.dtype())) {
    return context.fail(ErrorCode::kInvalidArgument, "a result of dtype %s cannot be stored as %s",
                        scalar_type_name(call.result), scalar_type_name(out.dtype()));
  }
  if (run_small(call, inputs, out)) return;
  int32_t storage[kMaxRank];
  const auto sizes = broadcast_sizes(context, inputs, storage);
  if (!sizes || !context.resize(out, *sizes)) return;
  run_general(context, call, inputs, out);
}

}  // namespace vitrine
