// A loaded instruction, which runs without name lookups and index checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "vitrine/backend.h"
#include "vitrine/event_tracer.h"
#include "vitrine/kernel.h"

namespace vitrine {

struct Step {
  TraceRecord::Kind kind = TraceRecord::Kind::kKernelCall;
  uint32_t num_arguments = 0;
  // kKernelCall and kDelegateCall: arguments in the order of the instruction. kMove: source,
  // destination. kJumpFalse: condition.
  EValue* const* arguments = nullptr;
  union {
    Kernel::Function function = nullptr;  // kKernelCall
    Delegate* delegate;                   // kDelegateCall
    uint32_t destination;                 // kJumpFalse: index in the chain
  };
  const char* name = nullptr;  // operator or backend id
  std::string_view table;      // kKernelCall: name of the kernel's table
  // kDelegateCall: memory that the backend may use during the call.
  const std::span<std::byte>* scratch = nullptr;
  uint32_t num_scratch = 0;
};

}  // namespace vitrine
