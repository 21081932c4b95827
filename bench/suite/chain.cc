#include "bench/suite/chain.h"

#include <cstring>
#include <vector>

#include "kernels/portable/portable_kernels.h"
#include "schema/program_generated.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {

namespace {

namespace fbs = schema::program;
using tools::check;

// Returns a .pte file without a header. Its method "forward" computes x = x + y on one-element
// float tensors `steps` times. The inputs x and y are in planned memory.
flatbuffers::DetachedBuffer make_chain_program(int steps) {
  flatbuffers::FlatBufferBuilder builder;
  const auto tensor = [&](uint32_t offset) {
    const auto body = fbs::CreateTensor(builder, schema::ScalarType::FLOAT, 0,
                                        builder.CreateVector(std::vector<int32_t>{1}),
                                        builder.CreateVector(std::vector<uint8_t>{0}), false, 0,
                                        fbs::CreateAllocationDetails(builder, 1, offset, 0));
    return fbs::CreateEValue(builder, fbs::KernelTypes::Tensor, body.Union());
  };
  const std::vector<flatbuffers::Offset<fbs::EValue>> values = {
      tensor(0), tensor(16),
      fbs::CreateEValue(builder, fbs::KernelTypes::Int, fbs::CreateInt(builder, 1).Union())};

  const std::vector<int32_t> arguments = {0, 1, 2, 0, 0};  // self, other, alpha, out, result
  std::vector<flatbuffers::Offset<fbs::Instruction>> instructions;
  for (int i = 0; i < steps; ++i) {
    instructions.push_back(fbs::CreateInstruction(
        builder, fbs::InstructionArguments::KernelCall,
        fbs::CreateKernelCall(builder, 0, builder.CreateVector(arguments)).Union()));
  }
  const auto chain = fbs::CreateChain(builder, 0, 0, builder.CreateVector(instructions));
  const auto add = fbs::CreateOperatorDirect(builder, "aten::add", "out");
  const auto plan = fbs::CreateExecutionPlan(
      builder, builder.CreateString("forward"), 0, builder.CreateVector(values),
      builder.CreateVector(std::vector<int32_t>{0, 1}),
      builder.CreateVector(std::vector<int32_t>{0}), builder.CreateVector(&chain, 1),
      builder.CreateVector(&add, 1), 0, builder.CreateVector(std::vector<int64_t>{0, 32}));
  fbs::FinishProgramBuffer(builder, fbs::CreateProgram(builder, 0, builder.CreateVector(&plan, 1)));
  return builder.Release();
}

}  // namespace

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

void Chain::set_input(size_t index) {
  check(method_->set_input(index, EValue(&one_.mutable_tensor())));
}

void Chain::call_kernel(int times) {
  EValue sum(&sum_.mutable_tensor());
  EValue one(&one_.mutable_tensor());
  EValue alpha(int64_t{1});
  EValue* const arguments[] = {&sum, &one, &alpha, &sum, &sum};
  HeapArena temp;
  KernelContext context(&temp);
  const Kernel::Function add = kernels_.find("aten::add.out").kernel->function;
  for (int i = 0; i < times; ++i) add(context, arguments);
  check(context.take_error());
}

}  // namespace vitrine::bench
