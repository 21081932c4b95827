// Builds small programs (.pte), both valid and invalid.
//
//   ProgramBuilder builder;
//   MethodSpec& forward = builder.method("forward");
//   forward.buffer_sizes = {0, 64};
//   const int x = forward.tensor({.sizes = {2, 3}, .planned = Planned{1, 0}});
//   const int y = forward.tensor({.sizes = {2, 3}, .planned = Planned{1, 32}});
//   forward.inputs = {x};
//   forward.outputs = {y};
//   forward.kernel_call(forward.op("test::scale", "out"), {x, forward.integer(2), y, y});
//   const AlignedBytes file = builder.build();
//
// A test can overwrite all fields before build(). The format is described in
// docs/formats/program.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/program_generated.h"
#include "vitrine/scalar_type.h"

namespace vitrine::test {

// Allocates memory that is 64-byte aligned and has exactly the requested size, so that
// AddressSanitizer detects every overrun.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* memory, size_t) { ::operator delete(memory, std::align_val_t(64)); }
  bool operator==(const AlignedAllocator&) const { return true; }
};
using AlignedBytes = std::vector<std::byte, AlignedAllocator<std::byte>>;
using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}
inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// A location in planned memory.
struct Planned {
  uint32_t memory_id;
  uint64_t offset;
};

struct TensorSpec {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int32_t> sizes = {};
  std::vector<uint8_t> dim_order = {};  // empty: row-major
  std::optional<Planned> planned = {};
  uint32_t data = 0;  // index from ProgramBuilder::constant() or initial_state(); 0: none
  std::optional<std::string> external = {};  // key in a .ptd file
  schema::program::TensorShapeDynamism dynamism = schema::program::TensorShapeDynamism::STATIC;
  // The fields below can make the program invalid.
  int32_t storage_offset = 0;
  int8_t layout = 0;
  bool has_sizes = true;
  bool has_dim_order = true;
  schema::program::DeviceType device = schema::program::DeviceType::CPU;
  std::optional<schema::program::TensorDataLocation> location = {};
};

struct ValueSpec {
  schema::program::KernelTypes kind = schema::program::KernelTypes::Null;
  bool has_value = true;
  TensorSpec tensor = {};
  int64_t integer = 0;  // also used for bools
  double real = 0;
  std::optional<std::string> text = {};
  std::optional<std::vector<int64_t>> items = {};  // items of all lists except DoubleList
  std::optional<std::vector<double>> reals = {};
};

// Memory that a delegate call reserves.
struct ScratchSpec {
  std::optional<Planned> planned = {};
  uint64_t size = 0;
};

struct InstructionSpec {
  schema::program::InstructionArguments kind = schema::program::InstructionArguments::FreeCall;
  int32_t first = 0;   // operator, delegate, source, condition or value
  int32_t second = 0;  // target of a move, destination of a jump
  std::vector<int32_t> args = {};
  std::vector<ScratchSpec> scratch = {};
  bool has_args = true;
};

struct OperatorSpec {
  std::optional<std::string> name = {};
  std::string overload = {};
};

struct CompileSpecSpec {
  std::optional<std::string> key = {};
  Bytes value = {};
};

struct DelegateSpec {
  std::optional<std::string> id = {};
  schema::program::DataLocation location = schema::program::DataLocation::INLINE;
  Bytes payload = {};
  std::vector<CompileSpecSpec> compile_specs = {};
  // The fields below can make the program invalid.
  bool has_processed = true;
  std::optional<uint32_t> index = {};
};

struct MethodSpec {
  std::optional<std::string> name;
  std::vector<ValueSpec> values;
  bool has_values = true;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<OperatorSpec> operators;
  std::vector<DelegateSpec> delegates;
  std::vector<std::vector<InstructionSpec>> chains = {{}};
  std::vector<int64_t> buffer_sizes = {0};  // entry 0 is reserved
  std::vector<schema::program::DeviceType> buffer_devices;

  // The following functions return the index of the new value, operator or delegate.
  int value(ValueSpec spec);
  int none() { return value({}); }
  int integer(int64_t number);
  int boolean(bool value);
  int real(double number);
  int string(std::string text);
  int int_list(std::vector<int64_t> values);
  int double_list(std::vector<double> numbers);
  int bool_list(std::vector<int64_t> values);
  int tensor_list(std::vector<int64_t> values);
  int optional_tensor_list(std::vector<int64_t> values);
  int tensor(TensorSpec spec);
  int op(std::string op_name, std::string overload = "");
  int delegate(DelegateSpec spec);

  // The following functions add an instruction to the last chain.
  void kernel_call(int op_index, std::vector<int32_t> args);
  void delegate_call(int delegate_index, std::vector<int32_t> args,
                     std::vector<ScratchSpec> scratch = {});
  void move(int from, int to);
  void jump_false(int condition, int destination);
  void free(int freed);
  int next_instruction() const { return static_cast<int>(chains.back().size()); }
};

struct SegmentEntry {
  uint64_t offset;
  uint64_t size;
};

class ProgramBuilder {
 public:
  // Adds a method. The reference stays valid while the builder is alive.
  MethodSpec& method(std::string name);

  // The following functions add data. The first two return the index for TensorSpec::data.
  uint32_t constant(Bytes data);
  uint32_t initial_state(Bytes data);
  void named_data(std::string key, Bytes data);

  AlignedBytes build() const;

  std::deque<MethodSpec> methods;
  uint32_t version = 0;
  bool legacy_constants = false;  // stores constants in constant_buffer, without a segment
  uint32_t header_length = 32;    // 24: ExecuTorch before 1.0
  uint64_t segment_alignment = 128;

  // The fields below override parts of the file, so that tests can damage it. The order of the
  // segments is constants, initial states, payloads, named data.
  std::optional<std::vector<SegmentEntry>> segments;
  std::optional<uint32_t> constant_segment_index;
  std::optional<std::vector<uint64_t>> constant_offsets;
  std::optional<uint32_t> initial_state_segment_index;
  std::optional<std::vector<uint64_t>> initial_state_offsets;
  std::optional<uint32_t> named_data_segment_index;
  bool named_data_has_keys = true;
  bool both_kinds_of_constants = false;

 private:
  std::vector<Bytes> constants_;
  std::vector<Bytes> initial_states_;
  std::vector<std::pair<std::string, Bytes>> named_data_;
};

}  // namespace vitrine::test
