// A delegate's graph, run by XNNPACK alone: the limit of what the backend can reach.
#pragma once

#include <pthreadpool.h>

#include <vector>

#include "backends/xnnpack/runtime/constants.h"
#include "backends/xnnpack/runtime/graph_reader.h"
#include "backends/xnnpack/runtime/subgraph.h"
#include "vitrine/array.h"
#include "vitrine/program.h"

namespace vitrine::bench {

// The payloads of all delegates of the first method.
std::vector<DataBuffer> delegate_payloads(const Program& program);

// Throws ToolErrors. `program` and `payload` must outlive the object.
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
  std::vector<Array> arguments_;  // memory of the externals
};

}  // namespace vitrine::bench
