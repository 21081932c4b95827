#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/bundled_program/bundled_program.h"
#include "formats/bundled_program/tensor_check.h"
#include "schema/bundled_program_generated.h"

namespace vitrine::bundled {
namespace {

namespace fb = ::flatbuffers;
namespace wire = ::vitrine::schema::bundled_program;

// Alignments that the schema requires, in bytes. The generated functions do not apply them.
constexpr size_t kProgramAlignment = 32;
constexpr size_t kDataAlignment = 16;
// Maximum bytes of a value in the file, without the tensor's data.
constexpr uint64_t kMaxValueBytes = 512;
// Maximum bytes of a test set, a suite or the root table, without its contents.
constexpr uint64_t kMaxSetBytes = 256;

[[noreturn]] void fail(std::string_view location, std::string_view what) {
  throw BundledProgramError(fmt::format("cannot write a bundled program: {}: {}", location, what));
}

class Writer {
 public:
  std::vector<std::byte> write(const BundledProgram& from) {
    if (from.program.empty()) fail("program", "is missing");
    std::vector<const TestSuite*> suites;
    suites.reserve(from.suites.size());
    for (const TestSuite& suite : from.suites) suites.push_back(&suite);
    std::sort(suites.begin(), suites.end(),
              [](const auto* a, const auto* b) { return a->method < b->method; });
    check(from, suites);
    std::vector<fb::Offset<wire::BundledMethodTestSuite>> written;
    written.reserve(suites.size());
    for (const TestSuite* suite : suites) written.push_back(write_suite(*suite));
    const auto program = write_bytes(from.program, kProgramAlignment);
    builder_.Finish(
        wire::CreateBundledProgram(builder_, from.version, builder_.CreateVector(written), program),
        wire::BundledProgramIdentifier());
    const auto bytes = std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
    return {bytes.begin(), bytes.end()};
  }

 private:
  static void check(const BundledProgram& from, const std::vector<const TestSuite*>& suites) {
    uint64_t size = from.program.size() + kMaxSetBytes;
    for (size_t i = 0; i < suites.size(); ++i) {
      const std::string& method = suites[i]->method;
      if (method.empty()) fail("suite", "has no method name");
      if (i > 0 && suites[i - 1]->method == method) fail(method, "has two suites");
      size += kMaxSetBytes + method.size();
      for (size_t k = 0; k < suites[i]->sets.size(); ++k) {
        const TestSet& set = suites[i]->sets[k];
        const std::string location = fmt::format("{}, test set {}", method, k);
        size += kMaxSetBytes;
        check(set.inputs, location + ", input", &size);
        check(set.expected_outputs, location + ", expected output", &size);
        for (const BundledValue& value : set.expected_outputs) {
          if (!std::holds_alternative<BundledTensor>(value)) {
            fail(location, "expected outputs can only be tensors");
          }
        }
      }
    }
    if (size >= FLATBUFFERS_MAX_BUFFER_SIZE) fail("size", "would be 2 GiB or more");
  }

  static void check(const std::vector<BundledValue>& values, const std::string& location,
                    uint64_t* size) {
    for (size_t i = 0; i < values.size(); ++i) {
      *size += kMaxValueBytes;
      const auto* tensor = std::get_if<BundledTensor>(&values[i]);
      if (tensor == nullptr) continue;
      *size += tensor->data.size();
      if (const std::string fault = fault_of(*tensor); !fault.empty()) {
        fail(fmt::format("{} {}", location, i), fault);
      }
    }
  }

  fb::Offset<wire::BundledMethodTestSuite> write_suite(const TestSuite& suite) {
    std::vector<fb::Offset<wire::BundledMethodTestCase>> sets;
    for (const TestSet& set : suite.sets) {
      const auto inputs = write_values(set.inputs);
      const auto outputs = write_values(set.expected_outputs);
      sets.push_back(wire::CreateBundledMethodTestCase(builder_, inputs, outputs));
    }
    const auto name = builder_.CreateString(suite.method);
    return wire::CreateBundledMethodTestSuite(builder_, name, builder_.CreateVector(sets));
  }

  fb::Offset<fb::Vector<fb::Offset<wire::Value>>> write_values(
      const std::vector<BundledValue>& values) {
    std::vector<fb::Offset<wire::Value>> written;
    written.reserve(values.size());
    for (const BundledValue& value : values) {
      written.push_back(std::visit([this](const auto& held) { return write_value(held); }, value));
    }
    return builder_.CreateVector(written);
  }

  fb::Offset<wire::Value> write_value(const BundledTensor& tensor) {
    const auto sizes = builder_.CreateVector(tensor.sizes);
    const auto dim_order = builder_.CreateVector(tensor.dim_order);
    const auto data = write_bytes(tensor.data, kDataAlignment);
    const auto body = wire::CreateTensor(builder_, static_cast<schema::ScalarType>(tensor.dtype),
                                         sizes, data, dim_order);
    return wire::CreateValue(builder_, wire::ValueUnion::Tensor, body.Union());
  }
  fb::Offset<wire::Value> write_value(int64_t value) {
    return wire::CreateValue(builder_, wire::ValueUnion::Int,
                             wire::CreateInt(builder_, value).Union());
  }
  fb::Offset<wire::Value> write_value(bool value) {
    return wire::CreateValue(builder_, wire::ValueUnion::Bool,
                             wire::CreateBool(builder_, value).Union());
  }
  fb::Offset<wire::Value> write_value(double value) {
    // FlatBuffers would omit -0.0, because it compares equal to the default 0.0.
    builder_.ForceDefaults(std::signbit(value));
    const auto body = wire::CreateDouble(builder_, value).Union();
    builder_.ForceDefaults(false);
    return wire::CreateValue(builder_, wire::ValueUnion::Double, body);
  }

  fb::Offset<fb::Vector<uint8_t>> write_bytes(std::span<const std::byte> bytes, size_t alignment) {
    builder_.ForceVectorAlignment(bytes.size(), 1, alignment);
    return builder_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }

  fb::FlatBufferBuilder builder_;
};

}  // namespace

std::vector<std::byte> write_bundled_program(const BundledProgram& program) {
  return Writer().write(program);
}

}  // namespace vitrine::bundled
