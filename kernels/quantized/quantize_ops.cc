#include "kernels/quantized/affine.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

VITRINE_KERNEL(quantize_per_tensor_Tensor_out,
               "quantized_decomposed::quantize_per_tensor.Tensor_out",
               quantize_per_tensor_Tensor_out<quantize>);
VITRINE_KERNEL(quantize_per_tensor_out, "quantized_decomposed::quantize_per_tensor.out",
               quantize_per_tensor_out<quantize>);
VITRINE_KERNEL(quantize_per_channel_out, "quantized_decomposed::quantize_per_channel.out",
               quantize_per_channel_out<quantize>);
VITRINE_KERNEL(quantize_per_token_out, "quantized_decomposed::quantize_per_token.out",
               quantize_tokens);
VITRINE_KERNEL(dequantize_per_tensor_Tensor_out,
               "quantized_decomposed::dequantize_per_tensor.Tensor_out",
               dequantize_per_tensor_Tensor_out<dequantize>);
VITRINE_KERNEL(dequantize_per_tensor_out, "quantized_decomposed::dequantize_per_tensor.out",
               dequantize_per_tensor_out<dequantize>);
VITRINE_KERNEL(dequantize_per_channel_out, "quantized_decomposed::dequantize_per_channel.out",
               dequantize_per_channel_out<dequantize>);
VITRINE_KERNEL(dequantize_per_token_out, "quantized_decomposed::dequantize_per_token.out",
               dequantize_per_token_out<dequantize>);

}  // namespace vitrine::quantized
