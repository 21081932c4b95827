#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <new>

#include "formats/bundled_program/bundled_program.h"
#include "formats/bundled_program/tensor_check.h"
#include "runtime/platform/table_verifier.h"
#include "schema/bundled_program_generated.h"
#include "schema/bundled_program_shapes.h"
#include "vitrine/tensor.h"

namespace vitrine::bundled {
namespace {

namespace fb = ::flatbuffers;
namespace wire = ::vitrine::schema::bundled_program;

constexpr std::align_val_t kAlignment{64};
constexpr size_t kIdentifierOffset = 4;
constexpr size_t kIdentifierBytes = 4;
// The alignment, in bytes, that ExecuTorch gives the field `program`.
constexpr uintptr_t kWantedAlignment = 32;

// The smallest size of a table, in bytes. A file of n bytes has at most n / 8 different tables. The
// reader rejects more references to tables: if references shared tables, a small file could expand
// to many test sets.
constexpr size_t kMinTableBytes = 8;

std::shared_ptr<std::byte> allocate(size_t size) {
  return {static_cast<std::byte*>(::operator new(size == 0 ? 1 : size, kAlignment)),
          [](std::byte* memory) { ::operator delete(memory, kAlignment); }};
}

std::span<const std::byte> bytes_of(const fb::Vector<uint8_t>* vector) {
  return vector == nullptr ? std::span<const std::byte>()
                           : std::as_bytes(std::span(vector->data(), vector->size()));
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view source)
      : bytes_(bytes), source_(source) {}

  BundledProgram read() const {
    const wire::BundledProgram& root = verified();
    BundledProgram result;
    result.version = root.version();
    result.program = bytes_of(root.program());
    if (result.program.empty()) fail("program", "is missing");
    if (root.method_test_suites() == nullptr) return result;
    for (fb::uoffset_t i = 0; i < root.method_test_suites()->size(); ++i) {
      const std::string location = fmt::format("method_test_suites[{}]", i);
      TestSuite suite = read_suite(*root.method_test_suites()->Get(i), location);
      if (result.suite(suite.method) != nullptr) {
        fail(location, fmt::format("method {} already has a test suite", suite.method));
      }
      result.suites.push_back(std::move(suite));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view location, std::string_view what) const {
    throw BundledProgramError(fmt::format("{}: {}: {}", source_, location, what));
  }

  const wire::BundledProgram& verified() const {
    if (!is_bundled_program(bytes_)) {
      fail("identifier", "no \"BP08\" at byte 4: this is not a bundled program");
    }
    if (bytes_.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) fail("size", "is 2 GiB or more");
    Budget steps(bytes_.size() / kMinTableBytes);
    if (!verify_tables(bytes_, wire::kTableShapes, steps)) {
      fail("flatbuffer", "does not verify: the file is damaged or truncated");
    }
    return *wire::GetBundledProgram(bytes_.data());
  }

  TestSuite read_suite(const wire::BundledMethodTestSuite& from,
                       const std::string& location) const {
    if (from.method_name() == nullptr) fail(location, "method_name is missing");
    TestSuite suite{.method = from.method_name()->str(), .sets = {}};
    if (from.test_cases() == nullptr) return suite;
    for (fb::uoffset_t i = 0; i < from.test_cases()->size(); ++i) {
      const wire::BundledMethodTestCase& set = *from.test_cases()->Get(i);
      const std::string set_location = fmt::format("{}.test_cases[{}]", location, i);
      suite.sets.push_back({.inputs = read_values(set.inputs(), set_location + ".inputs"),
                            .expected_outputs = read_values(set.expected_outputs(),
                                                            set_location + ".expected_outputs")});
    }
    return suite;
  }

  std::vector<BundledValue> read_values(const fb::Vector<fb::Offset<wire::Value>>* from,
                                        const std::string& location) const {
    std::vector<BundledValue> values;
    if (from == nullptr) return values;
    for (fb::uoffset_t i = 0; i < from->size(); ++i) {
      values.push_back(read_value(*from->Get(i), fmt::format("{}[{}]", location, i)));
    }
    return values;
  }

  BundledValue read_value(const wire::Value& value, const std::string& location) const {
    if (value.val() == nullptr) fail(location, "has no value");
    if (const auto* tensor = value.val_as_Tensor()) return read_tensor(*tensor, location);
    if (const auto* number = value.val_as_Int()) return number->int_val();
    if (const auto* truth = value.val_as_Bool()) return truth->bool_val();
    if (const auto* number = value.val_as_Double()) return number->double_val();
    fail(location,
         fmt::format("has kind {}, which is unknown", static_cast<int>(value.val_type())));
  }

  BundledTensor read_tensor(const wire::Tensor& from, const std::string& location) const {
    BundledTensor tensor{.dtype = static_cast<ScalarType>(from.scalar_type()),
                         .sizes = {},
                         .dim_order = {},
                         .data = bytes_of(from.data())};
    // Each tensor gets a copy of a possibly shared vector, so long vectors are rejected first.
    const auto length = [](const auto* vector) { return vector == nullptr ? 0 : vector->size(); };
    if (length(from.sizes()) > kMaxRank || length(from.dim_order()) > kMaxRank) {
      fail(location, fmt::format("has more than {} dimensions", kMaxRank));
    }
    if (from.sizes() != nullptr) tensor.sizes.assign(from.sizes()->begin(), from.sizes()->end());
    if (from.dim_order() != nullptr) {
      tensor.dim_order.assign(from.dim_order()->begin(), from.dim_order()->end());
    }
    if (const std::string fault = fault_of(tensor); !fault.empty()) fail(location, fault);
    return tensor;
  }

  std::span<const std::byte> bytes_;
  std::string_view source_;
};

}  // namespace

const TestSuite* BundledProgram::suite(std::string_view method) const {
  for (const TestSuite& suite : suites) {
    if (suite.method == method) return &suite;
  }
  return nullptr;
}

bool is_bundled_program(std::span<const std::byte> bytes) {
  return bytes.size() >= kIdentifierOffset + kIdentifierBytes &&
         std::memcmp(bytes.data() + kIdentifierOffset, wire::BundledProgramIdentifier(),
                     kIdentifierBytes) == 0;
}

BundledProgram parse_bundled_program(std::span<const std::byte> bytes, std::string_view source) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kWantedAlignment == 0) {
    return Reader(bytes, source).read();
  }
  const std::shared_ptr<std::byte> copy = allocate(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  BundledProgram program = Reader({copy.get(), bytes.size()}, source).read();
  program.bytes = copy;
  return program;
}

BundledProgram read_bundled_program(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw BundledProgramError(fmt::format("{}: cannot be opened", file.string()));
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw BundledProgramError(fmt::format("{}: {}", file.string(), error.message()));
  const std::shared_ptr<std::byte> bytes = allocate(static_cast<size_t>(size));
  stream.read(reinterpret_cast<char*>(bytes.get()), static_cast<std::streamsize>(size));
  if (!stream) throw BundledProgramError(fmt::format("{}: cannot be read", file.string()));
  BundledProgram program = Reader({bytes.get(), static_cast<size_t>(size)}, file.string()).read();
  program.bytes = bytes;
  return program;
}

}  // namespace vitrine::bundled
