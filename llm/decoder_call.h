// Sets the inputs of a decoder method, runs the method, and returns the logits.
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

// Methods that feed the decoder. The pointers do not own the methods, and are null for missing
// methods. If no decoder input receives the encoder's output, rows of this output replace rows of
// the embedding's output.
struct DecoderFeeders {
  const Method* encoder = nullptr;
  Method* embedding = nullptr;
};

// Not thread-safe.
class DecoderCall {
 public:
  // `inputs` names the data of each input of the method. If `inputs` is empty, dtypes and shapes
  // determine the data. Throws a GenerationError that names the method if the method's inputs or
  // output do not fit a decoder or contradict `inputs`. The methods must outlive this object.
  DecoderCall(Method& method, const DecoderFeeders& feeders, std::span<const DecoderInput> inputs);

  std::string name() const { return std::string(method_.meta().name()); }
  Method& method() const { return method_; }
  int64_t max_ids() const { return max_ids_; }                   // maximum per call
  bool has_fixed_length() const { return has_fixed_length_; }    // each call takes max_ids() ids
  bool keeps_other_state() const { return keeps_other_state_; }  // see cache_operators.h
  bool has_position() const { return position_.has_value(); }
  size_t vocabulary() const { return vocabulary_; }
  bool inserts_rows() const { return feeders_.encoder != nullptr && !encoded_; }
  // False if the method returns only the logits of the last id.
  bool returns_all_logits() const { return returns_all_logits_; }

  // Runs the method and returns the vocabulary() logits of the last id, valid until the next call.
  // The model's encoder, if present, must have been executed. A method with a fixed length gets ids
  // padded to max_ids(). `rows` is empty, or has an element per token: the index of the encoder's
  // row that replaces the token, or -1.
  std::span<const float> feed(std::span<const TokenId> tokens, int64_t position,
                              std::span<const int64_t> rows = {});
  // Returns the logits after token `index` of the last feed(), valid until the next call. Throws
  // GenerationError if the method did not return these logits.
  std::span<const float> logits_after(size_t index);

 private:
  bool can_be(size_t index, DecoderInput input) const;
  std::optional<DecoderInput> detect_input(size_t index) const;
  void add_input(size_t index, DecoderInput input);
  void read_ids(size_t index);
  void check_memory_for_ids(size_t index) const;
  void read_output();
  std::string input_text(size_t index) const;

  void set_ids(std::span<const TokenId> tokens, std::span<const int64_t> rows);
  void set_rows(std::span<const int64_t> rows);
  void set_position(size_t count, int64_t position);

  Method& method_;
  DecoderFeeders feeders_;
  std::optional<size_t> ids_input_, position_, encoded_;  // indices of inputs
  int64_t max_ids_ = 0;
  bool has_fixed_length_ = false;
  bool keeps_other_state_ = false;
  bool returns_all_logits_ = false;
  size_t vocabulary_ = 0;
  std::vector<int64_t> ids_;
  std::vector<std::byte> embedded_;  // the embedding's rows, some replaced by the encoder's rows
  std::vector<int64_t> positions_;
  size_t last_ = 0;  // index of the last token of the last call
  std::vector<float> logits_;
};

// Sets an input to `ids`, as an int64 tensor of shape [1, n]. Throws GenerationError.
void set_ids_input(Method& method, size_t index, std::span<int64_t> ids);
// Throws a GenerationError that begins with `what` if `error` is not OK.
void check_call(const Error& error, std::string_view what);
// Returns the method's first output. Throws GenerationError if the output is not a readable tensor
// with the dtype and rank that the program declares.
const Tensor& output_tensor(const Method& method);
// Formats a dtype and shape, such as "i64[1,8]".
std::string tensor_text(const TensorInfo& tensor);

}  // namespace vitrine
