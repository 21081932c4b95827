// What the benchmarks of kernels share.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/kernels/prepared_call.h"
#include "bench/kernels/xnnpack_op.h"

namespace vitrine::bench {

// The setup of a benchmark.
struct Setup {
  PreparedCall call;
  std::unique_ptr<XnnpackOp> xnnpack;  // or null
  double bytes = 0;
  double operations = 0;
};

// A benchmark of the kernel `name`.
void add(const std::string& name, const std::string& what, std::function<void(Setup&)> prepare);

// Data movement, pooling, quantisation.
void add_movement();
// Attention over a cache, by dtype: a decode step at two positions, and a prompt.
void add_attentions();

}  // namespace vitrine::bench
