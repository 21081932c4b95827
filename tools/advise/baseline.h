// Loads and profiles the baseline: the program that advice would change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aot/quantize/int8.h"
#include "tools/advise/context.h"
#include "tools/advise/decoder_inputs.h"
#include "tools/advise/device_model.h"
#include "tools/advise/options.h"
#include "tools/advise/source_model.h"
#include "tools/advise/trial.h"
#include "tools/common/device_profile.h"
#include "tools/executor_runner/inputs.h"

namespace vitrine::tools {

class Baseline {
 public:
  // Lowers an exported model, and profiles the program. `options` must outlive the object. Throws
  // HostError, or NotLowerable if the model cannot be lowered even without a backend.
  explicit Baseline(const AdviseOptions& options);
  Baseline(const Baseline&) = delete;
  Baseline& operator=(const Baseline&) = delete;

  const Context& context() const { return context_; }
  // Null if no exported model was given.
  const SourceModel* source() const { return source_ ? &*source_ : nullptr; }
  // Empty if no exported model was given.
  const LoweredProgram& lowered() const { return lowered_; }
  RunnableProgram program() const;
  const InputSet& inputs() const { return *inputs_; }
  // Returns the run's inputs as calibration data for trials.
  aot::CalibrationData stand_in() const;
  // The reason why measurements on this machine are unreliable. Empty if measurements are reliable.
  const std::string& disturbance() const { return disturbance_; }
  // Notes about the build and about missing advice, as sentences.
  const std::vector<std::string>& notes() const { return notes_; }

  // Lowers the model with the options of `variant`. Throws HostError.
  LoweredProgram lower(const Variant& variant) const;
  // Runs the baseline and the variant alternately. A null `lowered` means the baseline's program.
  TrialResult compare(const Variant& variant, const LoweredProgram* lowered, double seconds);
  // True if the advice is for the device that recorded options.profile.
  bool is_for_device() const { return device_.has_value(); }
  // Predicts the time ratio on the device from the runs of compare(). Preconditions: compare() was
  // called, and is_for_device() is true.
  DevicePrediction predict(const LoweredProgram& lowered, const Interval& ratio);
  Pools& pools() { return pools_; }

 private:
  void open();
  void lower_first();
  void leave_out_source(const std::string& error);
  void run_profile();
  void use_device(DeviceProfile device);
  void choose_inputs(Session& session, Method& method, TraceBuffer& trace);
  void compare_positions(Method& method, const DecoderShape& shape);
  void compare_chunks(Method& method, const DecoderShape& whole);
  void compare_batches(Method& method);
  void note_extreme_sizes();

  const AdviseOptions& options_;
  std::optional<SourceModel> source_;
  LoweredProgram lowered_;
  Pools pools_;
  std::optional<InputSet> inputs_;
  Context context_;
  size_t threads_here_ = 1;
  double wall_here_ns_ = 0;
  std::optional<DeviceModel> device_;
  std::string disturbance_;
  std::vector<std::string> notes_;
};

// Returns the number of threads that a variant sets, or `threads` if it sets none.
size_t threads_of(const Variant& variant, size_t threads);

}  // namespace vitrine::tools
