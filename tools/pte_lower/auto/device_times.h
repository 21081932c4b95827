// Computes times of a model's parts on a device, from the device's profiles.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/quantize/int8.h"
#include "inspector/join/profile.h"
#include "tools/pte_lower/auto/parts.h"

namespace vitrine::tools {

// Maps part names to schemes. Parts without an entry are float.
using PartSchemes = std::map<std::string, std::string>;

// Predicts a program's time: the float program's time minus the savings of the parts. A scheme also
// saves time outside of the parts; each part with the scheme adds a share of this saving, in
// proportion to the part's time in float.
class DeviceTimes {
 public:
  // `files` has "float=FILE", and "SCHEME=FILE" for other schemes. FILE is the device's profile of
  // the program with the scheme in all parts that support it. `profile_here(scheme)` profiles the
  // same program on this machine. Parts must have the same FLOPs in both profiles and, for float,
  // the same bytes. Throws a ToolError that names `--device_times` if a profile is unreadable or of
  // another model.
  DeviceTimes(std::span<const std::string> files, const aot::ExportedProgram& program,
              const std::vector<ModelPart>& parts, const aot::CalibrationSample& sample,
              const std::function<inspector::Profile(const std::string& scheme)>& profile_here);

  bool has_scheme(const std::string& scheme) const { return schemes_.contains(scheme); }
  double saved_ms(const std::string& part, const std::string& scheme) const;
  double program_ms(const PartSchemes& schemes) const;
  const std::string& device() const { return device_; }

 private:
  struct Scheme {
    std::map<std::string, double> parts;  // ms of each part
    double rest_saved = 0;  // ms saved outside of the parts, per ms of the parts in float
  };

  std::string device_;
  double float_ms_ = 0;
  std::map<std::string, Scheme> schemes_;  // schemes by name, with "float"
};

}  // namespace vitrine::tools
