#pragma once

namespace vitrine::xnnpack {

// Makes XNNPACK pack f32 weights with the threads of PackingThreads. The packed bytes are the same
// as XNNPACK's. Call after XNNPACK is initialized and before other threads use it. Does nothing in
// builds that cannot replace XNNPACK's function.
void use_parallel_f32_packing();

}  // namespace vitrine::xnnpack
