// Defines a test backend that multiplies tensors by an integer factor. The payload is "TB" followed
// by one byte, the factor.
//
// A delegate has the same number of f32 inputs and outputs. Output i is input i times the factor.
// Each successful execution logs one operator event with debug identifier 7. The compile spec
// "fail" makes executions fail. The compile spec "inputs" is the number of inputs in one byte.
// Without this spec, the delegate reports all arguments as outputs. The compile spec "lost" is the
// index of an argument, in one byte. The delegate never reports this argument as an output.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "test/support/program_builder.h"
#include "vitrine/backend.h"

namespace vitrine::test {

class TestBackend final : public BackendInterface {
 public:
  static constexpr int32_t kDebugId = 7;
  static constexpr char kMetadata[] = "times";

  // The arguments of the latest init(); not synchronized.
  struct Init {
    BackendInitContext context;
    Bytes payload;
    bool payload_is_aligned = false;
    std::vector<std::pair<std::string, Bytes>> compile_specs;
  };

  const char* id() const override { return "TestBackend"; }
  Result<std::unique_ptr<Delegate>> init(const BackendInitContext& context,
                                         std::span<const std::byte> payload,
                                         std::span<const CompileSpec> compile_specs) const override;

  const Init& last_init() const { return last_init_; }
  // The scratch memory of each execution; not synchronized. An execution fills it with 0xFF.
  const std::vector<std::vector<std::span<std::byte>>>& scratch() const { return scratch_; }
  int live_delegates() const { return live_delegates_; }

 private:
  mutable Init last_init_;
  mutable std::vector<std::vector<std::span<std::byte>>> scratch_;
  mutable int live_delegates_ = 0;
};

inline Bytes multiply_by(uint8_t factor) {
  return {std::byte{'T'}, std::byte{'B'}, std::byte{factor}};
}

}  // namespace vitrine::test
