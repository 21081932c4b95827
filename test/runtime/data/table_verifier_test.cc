// The verifier gives what flatc's gives, for each format, on damaged and on cut files. It also
// looks at how elements of vectors are aligned, as flatc's does not.
#include "runtime/data/table_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
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
#include "test/corruption/sample_blobs.h"
#include "test/runtime/program/whole_program.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"

namespace vitrine {
namespace {

using flatbuffers::Verifier;
using test::AlignedBytes;

AlignedBytes sample(const char* name) {
  return test::read_file_bytes(test::samples_dir() / "formats" / name);
}

// Of the largest sample of a payload, the flatbuffer: behind a header if it has constants.
AlignedBytes xnnpack_graph() {
  AlignedBytes largest;
  for (test::SampleBlob& each : test::sample_blobs()) {
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
  size_t start = 0;  // of the flatbuffer
};
std::ostream& operator<<(std::ostream& out, const Format& format) { return out << format.name; }

const Format kFormats[] = {
    {"Program", schema::program::kTableShapes, [] { return test::whole_program().build(); },
     [](Verifier& v) { return schema::program::VerifyProgramBuffer(v); }},
    {"FlatTensor", schema::flat_tensor::kTableShapes, [] { return sample("weights.ptd"); },
     [](Verifier& v) { return schema::flat_tensor::VerifyFlatTensorBuffer(v); }},
    {"BundledProgram", schema::bundled_program::kTableShapes,
     [] { return sample("bundled_linear_relu_portable.bpte"); },
     [](Verifier& v) { return schema::bundled_program::VerifyBundledProgramBuffer(v); }},
    {"EtDump", schema::etdump::kTableShapes, [] { return sample("linear_relu.etdp"); },
     [](Verifier& v) { return schema::etdump::VerifySizePrefixedETDumpBuffer(v); }, 4},
    {"XnnpackGraph", schema::xnnpack::kTableShapes, xnnpack_graph,
     [](Verifier& v) { return v.VerifyBuffer<schema::xnnpack::XNNGraph>(nullptr); }},
};

class TableVerifier : public testing::TestWithParam<Format> {
 protected:
  // Whether they agree is checked; what they say is returned.
  bool verify(const AlignedBytes& file) const {
    Budget steps;
    const bool accepted = verify_tables(file, GetParam().shapes, steps, GetParam().start);
    Verifier generated(reinterpret_cast<const uint8_t*>(file.data()), file.size(), 64, 1u << 24);
    const bool expected = GetParam().verify(generated);
    // Elements of 8 bytes may be misaligned, and on 32 bits offsets may wrap around and lie inside.
    const bool stricter = expected && !accepted;
    EXPECT_TRUE(accepted == expected || stricter) << accepted;
    if (stricter) ++stricter_;
    return accepted;
  }
  // A prefix with the size, the offset of the root, and the identifier, which ours does not read.
  size_t head() const { return GetParam().start + 8; }

  const AlignedBytes sound_ = GetParam().sound();
  mutable size_t stricter_ = 0;
};

TEST_P(TableVerifier, AgreesWithTheGeneratedOneOnDamagedFiles) {
  ASSERT_TRUE(verify(sound_));
  size_t accepted = 0;
  size_t refused = 0;
  AlignedBytes file = sound_;
  for (size_t at = head(); at < sound_.size() && !HasFailure(); ++at) {
    for (const int flip : {0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80, 0xff}) {
      file[at] ^= static_cast<std::byte>(flip);
      ++(verify(file) ? accepted : refused);
      file[at] = sound_[at];
    }
  }
  // Several at once.
  uint32_t random = 1;
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    file = sound_;
    for (int flip = 0; flip < 3; ++flip) {
      random = random * 1664525u + 1013904223u;
      const size_t at = head() + (random >> 8) % (file.size() - head());
      file[at] ^= static_cast<std::byte>(1u << (random & 7u));
    }
    ++(verify(file) ? accepted : refused);
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 500u);
  if (sizeof(size_t) == 8) {
    EXPECT_LT(stricter_, (accepted + refused) / 100);
  }
}

TEST_P(TableVerifier, AgreesWithTheGeneratedOneOnCutFiles) {
  for (size_t size = 64; size < sound_.size() && !HasFailure(); ++size) {
    AlignedBytes file(sound_.begin(), sound_.begin() + static_cast<ptrdiff_t>(size));
    const auto rest = static_cast<uint32_t>(size - GetParam().start);
    if (GetParam().start != 0) std::memcpy(file.data(), &rest, sizeof rest);
    verify(file);
  }
}

TEST_P(TableVerifier, BoundsTheNumberOfTables) {
  Budget three(3);
  EXPECT_FALSE(verify_tables(sound_, GetParam().shapes, three, GetParam().start));
}

INSTANTIATE_TEST_SUITE_P(Formats, TableVerifier, testing::ValuesIn(kFormats),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace vitrine
