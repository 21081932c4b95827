// A decoder that is a method of a program, as ExecuTorch exports language models.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vitrine/method.h"
#include "vitrine/text_generator.h"

namespace vitrine {

// Inputs: ids, int64 [1, n]; with a cache also the position, int64 [1], or one for each id. Output:
// logits of f32, f16 or bf16, [1, vocabulary] of the last token or [1, n, vocabulary] of all.
class MethodDecoder final : public DecoderModel {
 public:
  // `method` is of `program` and outlives it; memory for its outputs is set. Reads the program's
  // metadata methods. Throws GenerationError where these and the method's tensors contradict each
  // other.
  MethodDecoder(const std::shared_ptr<const Program>& program, Method& method);

  const DecoderInfo& info() const override { return info_; }
  std::span<const float> feed(std::span<const TokenId> tokens, int64_t position) override;

  // What the metadata leave out or overstate, and what is done instead.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void read_inputs();
  void read_output();
  void read_limits(const std::shared_ptr<const Program>& program);
  void set_ids(std::span<const TokenId> tokens);
  void set_position(size_t count, int64_t position);
  std::span<const float> logits_of(size_t last);

  Method& method_;
  DecoderInfo info_;
  std::vector<std::string> notes_;
  int64_t id_bound_ = 0;  // of n
  bool pads_ = false;     // n is fixed: the rest is filled up
  bool position_a_token_ = false;
  std::vector<int64_t> ids_;
  std::vector<int64_t> positions_;
  std::vector<float> logits_;
};

}  // namespace vitrine
