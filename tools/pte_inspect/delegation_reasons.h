// Finds the calls of a model that XNNPACK accepts, and the reasons why XNNPACK rejects other calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::tools {

struct DelegationReasons {
  struct Call {
    std::string op;       // op of the edge dialect: "aten.mul.Scalar"
    std::string why_not;  // the text of pte_lower --explain; empty if XNNPACK takes the call
  };
  std::map<uint32_t, std::vector<Call>> of_handle;          // calls by debug handle
  std::map<std::string, std::vector<Call>> of_source = {};  // calls by aot::source_of()
};

// Converts the program to the edge dialect and partitions it as pte_lower --backend xnnpack does.
// The nodes of `program` must have sources (aot::remember_sources). Throws an AotError.
DelegationReasons delegation_reasons(aot::ExportedProgram program);

inline constexpr const char* kReasonFact = "XNNPACK backend";  // label of reason_text()

// Returns a line for each different `why_not` of `calls`: "does not take it: REASON" or "takes it".
// With several lines, each line names its ops instead of "it". The result is empty if `calls` is
// empty.
std::string reason_text(const std::vector<DelegationReasons::Call>& calls);

}  // namespace vitrine::tools
