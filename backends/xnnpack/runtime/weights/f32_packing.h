// Packs f32 weights of products and convolutions with several threads. The packed bytes are the
// same as XNNPACK's. The threads are also the first to touch the pages of the packed weights, so
// they share the page faults.
#pragma once

namespace vitrine::xnnpack {

// Makes XNNPACK pack its f32 weights with PackingThreads. Call after XNNPACK is initialized and
// before other threads use it. Does nothing in builds that cannot replace XNNPACK's function.
void use_parallel_f32_packing();

}  // namespace vitrine::xnnpack
