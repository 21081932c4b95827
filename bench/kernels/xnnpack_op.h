// One operator as XNNPACK runs it in a delegate: a subgraph of one node with prepacked constants.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "vitrine/tensor.h"
#include "vitrine/thread_pool.h"

struct xnn_subgraph;
struct xnn_runtime;

namespace vitrine::bench {

class XnnpackOp {
 public:
  // define(subgraph, ids) adds the node; ids are those of the tensors, inputs before outputs. With
  // `constant[i]`, the tensor's data are packed when the runtime is created. Ends the process on
  // failure.
  using Define = std::function<int(xnn_subgraph*, const std::vector<uint32_t>& ids)>;
  struct Value {
    std::vector<size_t> dims;
    void* data;
    bool constant = false;
    bool output = false;
  };
  XnnpackOp(const std::vector<Value>& values, const Define& define, ThreadPool& pool);
  ~XnnpackOp();
  XnnpackOp(const XnnpackOp&) = delete;
  XnnpackOp& operator=(const XnnpackOp&) = delete;

  void run();

 private:
  xnn_subgraph* subgraph_ = nullptr;
  xnn_runtime* runtime_ = nullptr;
};

}  // namespace vitrine::bench
