// A method that gives logits: what each of its inputs is fed with, and its calls.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vitrine/decoder_methods.h"
#include "vitrine/method.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// Methods whose results are inputs of the decoder; not owned, null where there is none. If no
// input takes what the encoder gives, its rows stand among those of the embedding.
struct DecoderFeeders {
  const Method* encoder = nullptr;
  Method* embedding = nullptr;
};

// One thread at a time.
class DecoderCall {
 public:
  // `inputs` is empty where dtypes and shapes tell what each input is. Throws GenerationError
  // naming method and input if they do not, or if it cannot be so. The methods outlive the object.
  DecoderCall(Method& method, const DecoderFeeders& feeders, std::span<const DecoderInput> inputs);

  std::string name() const { return std::string(method_.meta().name()); }
  Method& method() const { return method_; }
  int64_t most_ids() const { return most_ids_; }                 // that a call takes
  bool is_exact() const { return is_exact_; }                    // it takes no fewer
  bool keeps_other_state() const { return keeps_other_state_; }  // cache_operators.h
  bool has_position() const { return position_.has_value(); }
  size_t vocabulary() const { return vocabulary_; }
  bool inserts_rows() const { return feeders_.encoder != nullptr && !encoded_; }
  bool gives_all_logits() const { return gives_all_logits_; }  // else of the last id

  // Returns the vocabulary() logits of the last id, valid until the next call. The encoder has been
  // executed.
  // Without a position, ids are filled up to the number that the method takes.
  // `rows`: for each token the row of the encoder's that it stands for, or -1; empty: none does.
  std::span<const float> feed(std::span<const TokenId> tokens, int64_t position,
                              std::span<const int64_t> rows = {});

 private:
  bool can_be(size_t index, DecoderInput input) const;
  std::optional<DecoderInput> kind_of(size_t index) const;
  void add_input(size_t index, DecoderInput input);
  void read_ids(size_t index);
  void check_room_for_ids(size_t index) const;
  void read_output();
  std::string input_text(size_t index) const;

  void set_ids(std::span<const TokenId> tokens, std::span<const int64_t> rows);
  void set_rows(std::span<const int64_t> rows);
  void set_position(size_t count, int64_t position);
  std::span<const float> logits_of(size_t last);

  Method& method_;
  DecoderFeeders feeders_;
  std::optional<size_t> ids_input_, position_, encoded_;  // inputs
  int64_t most_ids_ = 0;
  bool is_exact_ = false;
  bool keeps_other_state_ = false;
  bool gives_all_logits_ = false;
  size_t vocabulary_ = 0;
  std::vector<int64_t> ids_;
  std::vector<std::byte> embedded_;  // an embedding's rows, with the encoder's among them
  std::vector<int64_t> positions_;
  std::vector<float> logits_;
};

// ids, int64 [1, n], as a method's input. Throws GenerationError.
void set_ids_input(Method& method, size_t index, std::span<int64_t> ids);
// Throws GenerationError.
void check_call(const Error& error, std::string_view what);
// The method's only output, after its execution. Throws GenerationError if it is not the tensor, in
// memory, that the program declares.
const Tensor& output_tensor(const Method& method);
// "i64[1,8]"
std::string tensor_text(const TensorInfo& tensor);

}  // namespace vitrine
