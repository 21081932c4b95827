#include "test/runtime/program/whole_program.h"

namespace vitrine::test {

ProgramBuilder whole_program() {
  ProgramBuilder builder;
  const uint32_t constant = builder.constant(Bytes(24));
  const uint32_t state = builder.initial_state(Bytes(24));
  builder.named_data("key", bytes_of("data"));
  MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, 64};
  forward.buffer_devices = {schema::program::DeviceType::CPU};
  const int planned = forward.tensor({.sizes = {2, 3}, .planned = Planned{1, 0}});
  forward.tensor({.sizes = {2, 3}, .data = constant});
  forward.tensor({.sizes = {2, 3}, .planned = Planned{1, 32}, .data = state});
  forward.tensor({.sizes = {2, 3}, .external = "weights"});
  const int integer = forward.integer(1);
  forward.string("text");
  forward.int_list({integer, integer});
  forward.double_list({1, 2});
  forward.bool_list({1, 0});
  forward.tensor_list({planned});
  forward.optional_tensor_list({-1, planned});
  forward.none();
  forward.boolean(true);
  forward.real(1.5);
  forward.inputs = {planned};
  forward.outputs = {planned};
  forward.op("test::op", "out");
  forward.delegate(
      {.id = "Backend", .payload = bytes_of("blob"), .compile_specs = {{"key", bytes_of("v")}}});
  forward.delegate({.id = "Backend",
                    .location = schema::program::DataLocation::SEGMENT,
                    .payload = bytes_of("blob")});
  forward.kernel_call(0, {planned, planned});
  forward.delegate_call(0, {planned, planned});
  forward.move(integer, integer);
  forward.jump_false(integer, 5);
  forward.free(planned);
  return builder;
}

}  // namespace vitrine::test
