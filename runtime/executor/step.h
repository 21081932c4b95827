// An instruction made ready to run: no names to look up, no indices to check.
#pragma once

#include <cstdint>
#include <string_view>

#include "vitrine/backend.h"
#include "vitrine/event_tracer.h"
#include "vitrine/kernel.h"

namespace vitrine {

struct Step {
  // kKernelCall, kDelegateCall, kMove, kJumpFalse or kFree.
  TraceRecord::Kind kind = TraceRecord::Kind::kKernelCall;
  uint32_t num_arguments = 0;
  // kKernelCall, kDelegateCall: as the instruction lists them. kMove: from, to. kJumpFalse: the
  // condition.
  EValue* const* arguments = nullptr;
  union {
    Kernel::Function function = nullptr;  // kKernelCall
    Delegate* delegate;                   // kDelegateCall
    uint32_t destination;                 // kJumpFalse: position in the chain
  };
  const char* name = nullptr;  // operator or backend id
  std::string_view table;      // kKernelCall: the kernel table that has it
};

}  // namespace vitrine
