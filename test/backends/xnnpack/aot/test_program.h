// Small programs in the edge dialect, made by hand.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot::test {

// Handles count from 1 in the order of the calls.
class TestProgram {
 public:
  ExportedProgram program;

  Node* input(std::string_view name, std::vector<int64_t> sizes,
              ScalarType dtype = ScalarType::kFloat);
  // Dims in memory by `order`.
  Node* input_in_order(std::string_view name, std::vector<int64_t> sizes,
                       const std::vector<uint8_t>& order);
  // An input with a size between 1 and `max` in dim 0.
  Node* dynamic_input(std::string_view name, std::vector<int64_t> sizes, int64_t max);
  // f32 numbers.
  Node* parameter(std::string_view name, std::vector<int64_t> sizes, std::vector<float> numbers);
  // Zeros.
  Node* parameter(std::string_view name, std::vector<int64_t> sizes);
  Node* int8_parameter(std::string_view name, std::vector<int64_t> sizes,
                       std::vector<int8_t> numbers);

  // "aten.add.Tensor"; the result is contiguous.
  Node* call(std::string_view target, ArgumentList args, std::vector<int64_t> sizes,
             ScalarType dtype = ScalarType::kFloat, ArgumentMap kwargs = {});
  Node* quantise(Node* source, double scale, int64_t zero_point);
  Node* dequantise(Node* source, double scale, int64_t zero_point);
  Node* dequantise_channels(Node* source, Node* scales, Node* zero_points, int64_t axis);
  // choose_qparams, quantise and dequantise; the last of them.
  Node* dynamically_quantised(Node* source);
  void output(std::vector<Node*> nodes);

 private:
  Node* add_placeholder(std::string_view name, TensorSpec spec);
  uint32_t next_handle_ = 1;
};

// An input of f32, 2 x 4.
inline Node* matrix(TestProgram& t) { return t.input("x", {2, 4}); }

// Linear in the element's number, small and of both signs.
std::vector<float> ramp(size_t count, float step = 0.1f);

}  // namespace vitrine::aot::test
