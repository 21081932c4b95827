#include "bench/chain.h"

#include <cstring>

#include "bench/chain_program.h"
#include "host/tool_error.h"
#include "kernels/portable/portable_kernels.h"

namespace vitrine::bench {

using tools::check;

Chain::Chain(int steps, EventTracer* tracer)
    : bytes_(make_chain_program(steps)), aligned_(check(DataBuffer::allocate(bytes_.size()))) {
  std::memcpy(aligned_.owned_data(), bytes_.data(), bytes_.size());
  check(kernels_.add("portable", portable::kernels()));
  options_.kernels = &kernels_;
  options_.tracer = tracer;
  program_ = check(Program::load(check(view_buffer(aligned_.bytes()))));
  load();
}

void Chain::load() {
  method_ = check(Method::load(program_, "forward", options_));
  for (size_t i = 0; i < 2; ++i) set_input(i);
}

void Chain::set_input(size_t index) { check(method_->set_input(index, EValue(&one_.tensor()))); }

}  // namespace vitrine::bench
