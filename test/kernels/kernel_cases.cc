#include "test/kernels/kernel_cases.h"

#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "kernels/optimized/optimized_kernels.h"
#include "kernels/util/convert.h"
#include "test/kernels/argument_values.h"

namespace vitrine::test {
namespace {

std::vector<const Kernel*> kernels_of(std::string_view op) {
  std::vector<const Kernel*> result;
  for (const KernelTable& table :
       {portable::kernels(), quantized::kernels(), llm::kernels(), optimized::kernels()}) {
    for (const Kernel* kernel : table.kernels) {
      if (op == kernel->name) result.push_back(kernel);
    }
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; end != text.npos; text.remove_prefix(end == text.npos ? 0 : end + 1)) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
  }
  return parts;
}

double real_at(const Tensor& tensor, int64_t index) {
  double result = 0;
  convert_run(tensor.dtype(), ScalarType::kDouble)(
      tensor.unchecked_data<std::byte>() + static_cast<size_t>(index) * tensor.element_size(), 1,
      &result, 1, 1);
  return result;
}

void expect_elements(const Tensor& found, std::string_view expected, double tolerance) {
  if (expected == "?") return;
  if (expected == "empty") {
    EXPECT_EQ(found.numel(), 0);
    return;
  }
  const std::vector<std::string_view> numbers = split(expected, ',');
  ASSERT_EQ(static_cast<size_t>(found.numel()), numbers.size());
  TensorFactory factory;
  Tensor& element = factory.make(found.dtype(), {1});
  const size_t size = found.element_size();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == "?") continue;
    set_element(element, 0, ArgumentParser::number(numbers[i]));
    if (std::memcmp(found.unchecked_data<std::byte>() + i * size, element.raw_data(), size) == 0) {
      continue;
    }
    ASSERT_TRUE(convert_run(found.dtype(), ScalarType::kDouble)) << "element " << i;
    const double a = real_at(found, static_cast<int64_t>(i));
    const double b = real_at(element, 0);
    const bool is_near = a == b || std::abs(a - b) <= tolerance || (std::isnan(a) && std::isnan(b));
    EXPECT_TRUE(is_floating(found.dtype()) && is_near && numbers[i] != "-0.0")
        << "element " << i << " is " << a << "; expected " << numbers[i];
  }
}

void expect_number(const EValue& found, std::string_view expected) {
  if (expected == "true" || expected == "false") {
    ASSERT_TRUE(found.is_bool());
    EXPECT_EQ(found.unchecked_bool(), expected == "true");
    return;
  }
  const Number number = ArgumentParser::number(expected);
  if (number.is_real) {
    ASSERT_TRUE(found.is_double());
    EXPECT_EQ(found.unchecked_double(), number.real);
  } else {
    ASSERT_TRUE(found.is_int());
    EXPECT_EQ(found.unchecked_int(), number.integer);
  }
}

void check(const Kernel& kernel, const KernelCase& test, double tolerance) {
  std::vector<Argument> arguments = ArgumentParser(test.arguments).arguments();
  const auto prepare = [](Argument& tensor) {
    if (!tensor.output) return;
    tensor.is_static = !tensor.resizable;
    if (tensor.elements.empty()) tensor.pattern = 0xcd;  // detects elements that are not written
  };
  for (Argument& argument : arguments) {
    prepare(argument);
    for (Argument& item : argument.items) prepare(item);
  }
  ArgumentValues values(arguments);
  HeapArena temp;
  const Error error = values.call(kernel, temp);
  EXPECT_TRUE(values.inputs_intact()) << "an input was written to";
  constexpr std::string_view kError = "error: ";
  if (test.expected.starts_with(kError)) {
    EXPECT_TRUE(fails(error, test.code, test.expected.substr(kError.size())));
    return;
  }
  ASSERT_TRUE(succeeds(error));
  const std::vector<std::string_view> expected = split(test.expected, ' ');
  size_t outputs = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    for (size_t item = 0; arguments[i].output && item < arguments[i].tensors().size(); ++item) {
      SCOPED_TRACE(testing::Message() << "output " << outputs);
      ASSERT_LT(outputs, expected.size());
      expect_elements(*values.tensor_at(i, item), expected[outputs++], tolerance);
    }
  }
  if (outputs == 0) return expect_number(values.result, test.expected);
  EXPECT_EQ(outputs, expected.size());
}

}  // namespace

void check_kernel(const std::string& op, std::initializer_list<KernelCase> cases,
                  double tolerance) {
  const std::vector<const Kernel*> kernels = kernels_of(op);
  ASSERT_FALSE(kernels.empty()) << "no kernel " << op;
  for (const Kernel* kernel : kernels) {
    const bool is_optimized = kernel != kernels.front();
    for (const KernelCase& test : cases) {
      SCOPED_TRACE(op + (is_optimized ? " (optimized) " : " ") + test.arguments);
      check(*kernel, test, tolerance);
    }
  }
}

}  // namespace vitrine::test
