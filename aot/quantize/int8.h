// Quantizes trained models to int8, like PyTorch's PT2E with ExecuTorch's XNNPACKQuantizer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aot/graph/aot_error.h"
#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct Int8Scheme {
  // False: calibration data determine one scale per activation. True: only inputs of linear layers
  // and convolutions become int8, with scales that are computed at run time.
  bool is_dynamic = false;
  bool is_per_channel = true;  // weights: a scale for each output channel, or one for the tensor
  friend bool operator==(const Int8Scheme&, const Int8Scheme&) = default;
};

// A rule that gives a part of the model its own scheme.
struct Int8Rule {
  std::string pattern;                              // model_part.h
  std::optional<Int8Scheme> scheme = std::nullopt;  // empty: int8 leaves the part unchanged
  // The scheme that replaces int8 if `scheme` is empty: "float", or a scheme that another pass
  // applies, such as "8da4w:32".
  std::string kept_as = "float";
};

struct Int8Options {
  Int8Scheme scheme;
  std::vector<Int8Rule> rules;
  friend bool operator==(const Int8Options&, const Int8Options&);
};

struct Int8Spec {
  enum class Kind : uint8_t { kActivation, kDynamicActivation, kWeight, kChannelWeight };
  Kind kind = Kind::kActivation;
  int64_t axis = 0;  // for kChannelWeight
  friend bool operator==(const Int8Spec&, const Int8Spec&) = default;

  bool is_weight() const { return kind == Kind::kWeight || kind == Kind::kChannelWeight; }
  int64_t quant_min() const { return is_weight() ? -127 : -128; }
  static constexpr int64_t quant_max() { return 127; }
};

// The inputs of one run of the model during calibration.
struct CalibrationSample {
  std::string name;                // shown in errors, such as a file name
  std::vector<TensorData> inputs;  // one for each user input that is a tensor
};

// Calibration reads samples one at a time, in order.
struct CalibrationData {
  size_t count = 0;
  std::function<CalibrationSample(size_t index)> read;
};

// The result of an observer. `scales` is empty for dynamic activations.
struct ObservedRange {
  std::vector<float> scales;  // one, or one per channel
  int64_t zero_point = 0;
  bool has_infinite = false;
  // Only for histograms: the smallest and largest finite value, and the bins that the scale covers.
  float low = 0;
  float high = 0;
  size_t first_bin = 0;
  size_t last_bin = 0;
};

// A tensor that is float in the original model and int8 in the quantized model.
struct QuantizedTensor {
  std::string name;                // name of its node
  std::string target;              // name of a stored tensor: "fc.weight"
  std::vector<std::string> users;  // calls that read the tensor as int8
  bool is_output = false;          // true if the tensor's call writes int8
  Int8Spec spec;
  ObservedRange range;
  size_t observer = 0;  // tensors with the same number share an observer
};

struct FloatCall {
  std::string name;
  std::string op;      // "aten.conv2d.default"
  std::string module;  // "features.0"; may be empty
  std::string reason;
};

struct Int8Result {
  std::vector<QuantizedTensor> tensors;
  std::vector<FloatCall> floats;  // calls that compute in float
  size_t int8_calls = 0;
  std::vector<std::string> notes;  // differences from PyTorch: masks that stay float
};

// Thrown if int8 does not apply to any call of the model.
class NothingToQuantize : public AotError {
 public:
  using AotError::AotError;
};

// Quantizes `program`, which must be in training IR and unchanged since its import. Throws
// AotErrors that name the option, the sample or the tensor.
Int8Result quantize_to_int8(ExportedProgram& program, const Int8Options& options,
                            const CalibrationData& data,
                            const std::function<void(size_t sample)>& progress = nullptr);

}  // namespace vitrine::aot
