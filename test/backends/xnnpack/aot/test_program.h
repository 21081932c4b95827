// Builds small programs in the edge dialect.
#pragma once

#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot::test {

// Calls get debug handles in the order in which they are added; the first is 1.
class TestProgram {
 public:
  ExportedProgram program;

  Node* input(std::string_view name, std::vector<int64_t> sizes,
              ScalarType dtype = ScalarType::kFloat);
  // Adds an input whose dims have the given order in memory.
  Node* input_in_order(std::string_view name, std::vector<int64_t> sizes,
                       const std::vector<uint8_t>& order);
  // Adds an input with a size between 1 and `max` in dim 0.
  Node* dynamic_input(std::string_view name, std::vector<int64_t> sizes, int64_t max);
  Node* parameter(std::string_view name, std::vector<int64_t> sizes, std::vector<float> numbers);
  // Adds an f32 constant of zeros.
  Node* parameter(std::string_view name, std::vector<int64_t> sizes);
  Node* int8_parameter(std::string_view name, std::vector<int64_t> sizes,
                       std::vector<int8_t> numbers);

  // Adds a call of `target`, for example "aten.add.Tensor". Its result is contiguous.
  Node* call(std::string_view target, ArgumentList args, std::vector<int64_t> sizes,
             ScalarType dtype = ScalarType::kFloat, ArgumentMap kwargs = {});
  // Adds a call with several results. item() returns one of them.
  Node* tuple_call(std::string_view target, ArgumentList args,
                   const std::vector<TensorSpec>& results);
  Node* item(Node* tuple, int64_t index);
  Node* quantize(Node* source, double scale, int64_t zero_point);
  Node* dequantize(Node* source, double scale, int64_t zero_point);
  // Quantizes and dequantizes with the same parameters.
  Node* fake_quantize(Node* source, double scale, int64_t zero_point) {
    return dequantize(quantize(source, scale, zero_point), scale, zero_point);
  }
  // Adds an int8 constant with a scale for each index of dim `axis`. Returns its dequantize call.
  Node* quantized_parameter(std::string_view name, std::vector<int64_t> sizes,
                            std::vector<int8_t> numbers, const std::vector<float>& scales,
                            int64_t axis = 0, int8_t zero_point = 0);
  // Adds calls of choose_qparams, quantize and dequantize. Returns the dequantize call.
  Node* dynamically_quantized(Node* source);
  void output(std::vector<Node*> nodes);

 private:
  Node* add_placeholder(std::string_view name, TensorSpec spec);
  // Adds a call of quantized_decomposed.<target>. Its result has the sizes of `source`.
  Node* cast(std::string_view target, Node* source, ArgumentList parameters, ScalarType dtype);
  uint32_t next_handle_ = 1;
};

inline Node* matrix(TestProgram& t) { return t.input("x", {2, 4}); }

// Returns small floats of both signs that increase by `step` and repeat after 17 elements.
std::vector<float> ramp(size_t count, float step = 0.1f);

}  // namespace vitrine::aot::test
