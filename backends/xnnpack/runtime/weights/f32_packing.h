// Packs f32 weights of products and convolutions with several threads. The packed bytes are the
// same as XNNPACK's.
#pragma once

namespace vitrine::xnnpack {

// Makes XNNPACK pack f32 weights with the threads of PackingThreads. Call this after XNNPACK is
// initialized and before other threads use XNNPACK. Does nothing in builds that cannot replace
// XNNPACK's function.
void use_parallel_f32_packing();

}  // namespace vitrine::xnnpack
