// Runs a delegate's graph with XNNPACK alone. The time is a lower bound for the backend's time.
#pragma once

#include <pthreadpool.h>

#include <vector>

#include "backends/xnnpack/runtime/execution/subgraph.h"
#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "backends/xnnpack/runtime/weights/constants.h"
#include "vitrine/array.h"
#include "vitrine/program.h"

namespace vitrine::bench {

// Returns the payloads of all delegates of the first method.
std::vector<DataBuffer> delegate_payloads(const Program& program);

// A delegate's graph in XNNPACK. The constructor throws a ToolError. `program` and `payload` must
// outlive the object.
class BareXnnpack {
 public:
  BareXnnpack(const Program& program, const DataBuffer& payload, pthreadpool_t pool);

  void invoke();

 private:
  void set_up();

  xnnpack::Limits limits_;
  xnnpack::Graph graph_;
  xnnpack::Constants constants_;
  std::vector<xnnpack::Shape> shapes_;
  xnnpack::RuntimeHandle runtime_;
  std::vector<Array> arguments_;  // memory of the external values
};

}  // namespace vitrine::bench
