// A backend that multiplies: its payload is "TB" and a factor of one byte.
//
// It takes as many f32 inputs as outputs; output i is input i times the factor. The compile spec
// "fail" makes its executions fail; "inputs" says in a byte how many inputs there are, which the
// delegate cannot know otherwise. Logs one operator event per execution, with debug identifier 7.
#pragma once

#include <cstdint>
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

  // The arguments of the latest init(); not synchronised.
  struct Init {
    BackendInitContext context;
    Bytes payload;
    bool payload_is_aligned = false;
    std::vector<std::pair<std::string, Bytes>> compile_specs;
  };

  const char* id() const override { return "TestBackend"; }
  Result<std::unique_ptr<Delegate>> init(const BackendInitContext& context,
                                         std::span<const std::byte> processed,
                                         std::span<const CompileSpec> compile_specs) const override;

  const Init& last_init() const { return last_init_; }
  int live_delegates() const { return live_delegates_; }

 private:
  mutable Init last_init_;
  mutable int live_delegates_ = 0;
};

inline Bytes multiply_by(uint8_t factor) {
  return {std::byte{'T'}, std::byte{'B'}, std::byte{factor}};
}

}  // namespace vitrine::test
