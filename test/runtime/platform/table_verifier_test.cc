// Compares verify_tables() with flatc's verifier on damaged and truncated files of each format.
// Both must return the same result, with one exception: only verify_tables() rejects misaligned
// vectors of 8-byte elements.
#include "runtime/platform/table_verifier.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "schema/bundled_program_generated.h"
#include "schema/bundled_program_shapes.h"
#include "schema/etdump_generated.h"
#include "schema/etdump_shapes.h"
#include "schema/flat_tensor_generated.h"
#include "schema/flat_tensor_shapes.h"
#include "schema/program_generated.h"
#include "schema/program_shapes.h"
#include "schema/xnnpack_graph_shapes.h"
#include "test/corruption/sample_payloads.h"
#include "test/runtime/program/whole_program.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/file_bytes.h"

namespace vitrine {
namespace {

using flatbuffers::Verifier;
using test::AlignedBytes;

AlignedBytes sample(const char* name) {
  return test::read_file_bytes(test::samples_dir() / "formats" / name);
}

// Returns the largest flatbuffer in the sample payloads, without the header that precedes it in
// payloads with constants.
AlignedBytes xnnpack_graph() {
  AlignedBytes largest;
  for (test::SamplePayload& each : test::sample_payloads()) {
    const std::vector<std::byte> payload = each.builder.build();
    uint32_t offset = 0;
    auto size = static_cast<uint32_t>(payload.size());
    if (std::memcmp(payload.data() + 4, "XH00", 4) == 0) {
      std::memcpy(&offset, payload.data() + 10, sizeof offset);
      std::memcpy(&size, payload.data() + 14, sizeof size);
    }
    if (size <= largest.size()) continue;
    const auto begin = payload.begin() + offset;
    largest.assign(begin, begin + size);
  }
  return largest;
}

struct Format {
  const char* name;
  const TableShapes& shapes;
  AlignedBytes (*sound)();
  bool (*verify)(Verifier&);
  bool is_wide;      // true if the sample has vectors of 8-byte elements
  size_t start = 0;  // byte offset of the flatbuffer
};
std::ostream& operator<<(std::ostream& out, const Format& format) { return out << format.name; }

const Format kFormats[] = {
    {"Program", schema::program::kTableShapes, [] { return test::whole_program().build(); },
     [](Verifier& v) { return schema::program::VerifyProgramBuffer(v); }, true},
    {"FlatTensor", schema::flat_tensor::kTableShapes, [] { return sample("weights.ptd"); },
     [](Verifier& v) { return schema::flat_tensor::VerifyFlatTensorBuffer(v); }, false},
    {"BundledProgram", schema::bundled_program::kTableShapes,
     [] { return sample("bundled_linear_relu_portable.bpte"); },
     [](Verifier& v) { return schema::bundled_program::VerifyBundledProgramBuffer(v); }, false},
    {"EtDump", schema::etdump::kTableShapes, [] { return sample("linear_relu.etdp"); },
     [](Verifier& v) { return schema::etdump::VerifySizePrefixedETDumpBuffer(v); }, false, 4},
    {"XnnpackGraph", schema::xnnpack::kTableShapes, xnnpack_graph,
     [](Verifier& v) { return v.VerifyBuffer<schema::xnnpack::XNNGraph>(nullptr); }, false},
};

// True if `table`, or a table that it contains at any depth, has a vector with misaligned elements.
// flatc's verifier must have accepted the file.
bool is_misaligned(const flatbuffers::Table& table, const TableShapes& shapes, size_t which) {
  const auto below = [&](const flatbuffers::Table* each, size_t shape) {
    return is_misaligned(*each, shapes, shape);
  };
  for (size_t i = shapes.starts[which]; i < shapes.starts[which + 1]; ++i) {
    const FieldShape& field = shapes.fields[i];
    const auto entry = static_cast<flatbuffers::voffset_t>(4 + 2 * (i - shapes.starts[which]));
    if (!table.CheckField(entry)) continue;
    if (field.kind == FieldShape::kVector) {
      const auto* vector = table.GetPointer<const flatbuffers::Vector<uint8_t>*>(entry);
      const auto address = reinterpret_cast<uintptr_t>(vector->Data());
      if (vector->size() != 0 && address % field.argument != 0) return true;
    } else if (field.kind == FieldShape::kTable) {
      if (below(table.GetPointer<const flatbuffers::Table*>(entry), field.argument)) return true;
    } else if (field.kind == FieldShape::kTables) {
      using Tables = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::Table>>;
      for (const flatbuffers::Table* each : *table.GetPointer<const Tables*>(entry)) {
        if (below(each, field.argument)) return true;
      }
    } else if (field.kind == FieldShape::kUnion) {
      const auto type = table.GetField<uint8_t>(static_cast<flatbuffers::voffset_t>(entry - 2), 0);
      if (type == 0 || type > field.count) continue;
      const uint8_t member = shapes.unions[size_t{field.argument} + type - 1];
      if (below(table.GetPointer<const flatbuffers::Table*>(entry), member)) return true;
    }
  }
  return false;
}

class TableVerifier : public testing::TestWithParam<Format> {
 protected:
  // Expects both verifiers to agree and returns their result.
  bool verify(const AlignedBytes& file) {
    const TableShapes& shapes = GetParam().shapes;
    const size_t start = GetParam().start;
    Budget steps;
    const bool accepted = verify_tables(file, shapes, steps, start);
    Verifier generated(reinterpret_cast<const uint8_t*>(file.data()), file.size(), 64, 1u << 24);
    bool expected = GetParam().verify(generated);
    // With 32-bit addresses, flatc's verifier may accept offsets that wrap around.
    if (sizeof(size_t) == 4 && !accepted) return false;
    if (expected && is_misaligned(*flatbuffers::GetRoot<flatbuffers::Table>(file.data() + start),
                                  shapes, shapes.root)) {
      expected = false;
      ++misaligned_;
    }
    EXPECT_EQ(accepted, expected);
    return accepted;
  }
  // The root offset and the identifier end at this byte of the file. Tests do not damage the bytes
  // before it, because only flatc's verifier checks the identifier.
  size_t head() const { return GetParam().start + 8; }

  const AlignedBytes sound_ = GetParam().sound();
  size_t misaligned_ = 0;
};

TEST_P(TableVerifier, MatchesTheFlatbuffersVerifierOnDamagedFiles) {
  ASSERT_TRUE(verify(sound_));
  size_t accepted = 0;
  size_t refused = 0;
  const auto count = [&](const AlignedBytes& file, const auto&) {
    ++(verify(file) ? accepted : refused);
  };
  test::for_each_changed_byte(sound_, count, {.start = head()});
  test::for_each_random_damage(sound_, 20000, count, head());
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 500u);
  EXPECT_EQ(misaligned_ > 0, GetParam().is_wide && sizeof(size_t) == 8);
}

TEST_P(TableVerifier, MatchesTheFlatbuffersVerifierOnTruncatedFiles) {
  for (size_t size = 64; size < sound_.size() && !HasFailure(); ++size) {
    AlignedBytes file(sound_.begin(), sound_.begin() + static_cast<ptrdiff_t>(size));
    const auto rest = static_cast<uint32_t>(size - GetParam().start);
    if (GetParam().start != 0) std::memcpy(file.data(), &rest, sizeof rest);
    verify(file);
  }
}

TEST_P(TableVerifier, LimitsTheNumberOfTables) {
  Budget three(3);
  EXPECT_FALSE(verify_tables(sound_, GetParam().shapes, three, GetParam().start));
}

INSTANTIATE_TEST_SUITE_P(Formats, TableVerifier, testing::ValuesIn(kFormats),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace vitrine
