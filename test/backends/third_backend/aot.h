// The ahead-of-time half.
#pragma once

#include "aot/lowering/partitioner.h"

namespace third {

class Lowering final : public vitrine::aot::Backend {
 public:
  explicit Lowering(uint64_t input_padding) : input_padding_(input_padding) {}
  std::string id() const override;
  uint64_t input_padding() const override { return input_padding_; }
  vitrine::aot::PreprocessResult preprocess(
      vitrine::aot::ExportedProgram& program,
      std::span<const vitrine::aot::CompileSpec> compile_specs) const override;

 private:
  uint64_t input_padding_;
};

// Takes sums of two tensors of the same fixed sizes, and relu; in f32.
class Partitioner final : public vitrine::aot::Partitioner {
 public:
  explicit Partitioner(uint64_t input_padding) : input_padding_(input_padding) {}
  vitrine::aot::PartitionResult partition(vitrine::aot::ExportedProgram& program) const override;

 private:
  uint64_t input_padding_;
};

}  // namespace third
