// Reads the example inputs and the expected outputs in an ETRecord. Both are torch.save archives.
//
// Reads only the types that ExecuTorch writes: lists, tuples, dicts, numbers, None and tensors.
// Never calls a function that an archive names. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "vitrine/scalar_type.h"

namespace vitrine::etrecord {

struct RecordedTensor {
  ScalarType dtype = ScalarType::kByte;
  std::vector<int64_t> sizes;
  std::vector<std::byte> data;  // row-major
};

using RecordedValue = std::variant<std::monostate, bool, int64_t, double, RecordedTensor>;

// Parses RecordMembers::reference_outputs. Returns the outputs of each test set, by method.
// `location` names the archive in FormatErrors. Rejects a plain pickle (which ExecuTorch wrote up
// to 0.7) and an archive whose tensors reach beyond their storage or would expand far beyond the
// archive's size.
std::map<std::string, std::vector<std::vector<RecordedValue>>> parse_reference_outputs(
    std::string_view archive, const std::string& location = "reference_outputs");

// Parses RecordMembers::representative_inputs, the inputs of the first test set of "forward".
std::vector<RecordedValue> parse_representative_inputs(
    std::string_view archive, const std::string& location = "representative_inputs");

}  // namespace vitrine::etrecord
