#include "base/saved_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/format_error.h"
#include "base/serialized_dtypes.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/results.h"

namespace vitrine {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;

constexpr uint64_t kMaxBytes = 1000;

// Opcodes of protocol 2.
std::string small_int(int value) { return "K"s + static_cast<char>(value); }
std::string short_text(const std::string& content) {
  return "\x8c"s + static_cast<char>(content.size()) + content;
}
std::string sizes_tuple(const std::vector<int>& values) {
  std::string opcodes = "(";
  for (const int value : values) opcodes += small_int(value);
  return opcodes + "t";
}

// Opcodes of a tensor [2,3] with a storage of six elements and the key "0".
struct TensorOpcodes {
  std::string callee = "torch._utils\n_rebuild_tensor_v2";
  std::string storage_type = "FloatStorage";
  std::string key = "0";
  std::string offset = small_int(1);
  std::string sizes = sizes_tuple({2, 3});
  std::string strides = sizes_tuple({3, 1});
  std::string requires_grad = "\x89";

  std::string text() const {
    return "c" + callee + "\n((" + short_text("storage") + "ctorch\n" + storage_type + "\n" +
           short_text(key) + short_text("cpu") + small_int(6) + "tQ" + offset + sizes + strides +
           requires_grad + "ccollections\nOrderedDict\n)RtR";
  }
};

using Archive = test::ArchiveMembers;

Archive archive_of(const std::string& opcodes, const std::string& order = "little") {
  return {{"archive/data.pkl", "\x80\x02" + opcodes + "."},
          {"archive/byteorder", order},
          {"archive/data/0", std::string(24, 'x')}};
}

// Reads the root as a tensor. Returns the error, or an empty string.
std::string tensor_error(const Archive& members, uint64_t max_bytes = kMaxBytes) {
  const std::vector<std::byte> bytes = test::write_zip(members);
  return test::thrown<FormatError>([&] {
    SavedObjects objects({bytes, nullptr}, "weights", max_bytes);
    objects.tensor(objects.root());
  });
}

std::string error_of_tensor(const TensorOpcodes& opcodes) {
  return tensor_error(archive_of(opcodes.text()));
}

TEST(SavedObjects, ReadsTheFieldsOfATensor) {
  const std::vector<std::byte> bytes = test::write_zip(archive_of(TensorOpcodes().text()));
  SavedObjects objects({bytes, nullptr}, "weights", kMaxBytes);
  ASSERT_TRUE(objects.is_tensor(objects.root()));
  const SavedTensor tensor = objects.tensor(objects.root());
  EXPECT_EQ(tensor.dtype, ScalarType::kFloat);
  EXPECT_THAT(tensor.sizes, ElementsAre(2, 3));
  EXPECT_THAT(tensor.strides, ElementsAre(3, 1));
  EXPECT_EQ(tensor.storage_offset, 1);
  EXPECT_FALSE(tensor.requires_grad);
  EXPECT_EQ(tensor.storage.text(), std::string(24, 'x'));
}

TEST(SavedObjects, ReadsRequiresGradOfAParameter) {
  for (const char* callee : {"_rebuild_parameter", "_rebuild_parameter_with_state"}) {
    const std::string opcodes =
        "ctorch._utils\n"s + callee + "\n(" + TensorOpcodes().text() + "\x88" + ")tR";
    const std::vector<std::byte> bytes = test::write_zip(archive_of(opcodes));
    SavedObjects objects({bytes, nullptr}, "weights", kMaxBytes);
    EXPECT_TRUE(objects.is_tensor(objects.root()));
    EXPECT_TRUE(objects.tensor(objects.root()).requires_grad) << callee;
  }
}

TEST(SavedObjects, MapsStorageTypesToDtypes) {
  const std::pair<const char*, ScalarType> types[] = {
      {"FloatStorage", ScalarType::kFloat},
      {"DoubleStorage", ScalarType::kDouble},
      {"HalfStorage", ScalarType::kHalf},
      {"BFloat16Storage", ScalarType::kBFloat16},
      {"LongStorage", ScalarType::kLong},
      {"IntStorage", ScalarType::kInt},
      {"ShortStorage", ScalarType::kShort},
      {"CharStorage", ScalarType::kChar},
      {"ByteStorage", ScalarType::kByte},
      {"BoolStorage", ScalarType::kBool},
      {"ComplexFloatStorage", ScalarType::kComplexFloat},
      {"ComplexDoubleStorage", ScalarType::kComplexDouble},
  };
  for (const auto& [name, dtype] : types) {
    const std::vector<std::byte> bytes =
        test::write_zip(archive_of(TensorOpcodes{.storage_type = name}.text()));
    SavedObjects objects({bytes, nullptr}, "weights", kMaxBytes);
    EXPECT_EQ(objects.tensor(objects.root()).dtype, dtype) << name;
  }
  EXPECT_EQ(error_of_tensor({.storage_type = "UntypedStorage"}),
            "weights: unknown storage type torch UntypedStorage");
}

TEST(SavedObjects, ReportsWhyAnArchiveIsNotReadable) {
  EXPECT_EQ(tensor_error({{"archive/other", ""}}),
            "weights: has no data.pkl, so torch.save did not write this file");
  EXPECT_EQ(tensor_error({{"mydata.pkl", "N."}}),
            "weights: has no data.pkl, so torch.save did not write this file");
  EXPECT_EQ(tensor_error(archive_of(TensorOpcodes().text(), "big")),
            "weights: archive/byteorder: the data are not little-endian");
  EXPECT_EQ(tensor_error(archive_of("I")),
            "weights: archive/data.pkl: byte 2: opcode 0x49 is not supported");
}

TEST(SavedObjects, ReportsWhyATensorIsNotReadable) {
  EXPECT_EQ(error_of_tensor({}), "");
  EXPECT_EQ(tensor_error(archive_of("N")), "weights: a value is not a tensor");
  EXPECT_EQ(error_of_tensor({.callee = "os\nsystem"}),
            "weights: a value is made by calling os system, which is not supported");
  EXPECT_EQ(error_of_tensor({.key = "1"}), "weights: archive/data/1: is not in the archive");
  EXPECT_EQ(error_of_tensor({.offset = "N"}),
            "weights: a tensor's offset, size or stride is not an integer");
  EXPECT_EQ(error_of_tensor({.sizes = "(Nt"}),
            "weights: a tensor's offset, size or stride is not an integer");
  EXPECT_EQ(error_of_tensor({.strides = "N"}),
            "weights: a tensor's sizes or strides are not a list");
  EXPECT_EQ(error_of_tensor({.requires_grad = "N"}), "weights: requires_grad is not a bool");
}

TEST(SavedObjects, LimitsStorageAndRank) {
  const Archive members = archive_of(TensorOpcodes().text());
  EXPECT_EQ(tensor_error(members, 24), "");
  EXPECT_EQ(tensor_error(members, 23), "weights: archive/data/0: has 24 bytes; the maximum is 23");
  EXPECT_EQ(error_of_tensor({.sizes = sizes_tuple(std::vector<int>(16, 1))}), "");
  EXPECT_EQ(error_of_tensor({.sizes = sizes_tuple(std::vector<int>(17, 1))}),
            "weights: a tensor has more than 16 dimensions");
}

// The numbers are from the ScalarType enumerations of torch/_export/serde/schema.py and
// exir/serde/schema.py.
TEST(SerializedDtypes, ConvertsInBothDirections) {
  struct Numbers {
    ScalarType dtype;
    int64_t torch_export, exir;
  };
  const Numbers cases[] = {
      {ScalarType::kByte, 1, 1},           {ScalarType::kFloat, 7, 7},
      {ScalarType::kBool, 12, 12},         {ScalarType::kBFloat16, 13, 13},
      {ScalarType::kUInt16, 28, 14},       {ScalarType::kFloat8E5M2, 30, 15},
      {ScalarType::kFloat8E4M3FN, 29, 16}, {ScalarType::kUInt64, 35, 0},
  };
  for (const Numbers& expected : cases) {
    EXPECT_EQ(number_of_dtype(DtypeNumbering::kTorchExport, expected.dtype), expected.torch_export);
    EXPECT_EQ(number_of_dtype(DtypeNumbering::kExir, expected.dtype), expected.exir);
    EXPECT_EQ(dtype_of_number(DtypeNumbering::kTorchExport, expected.torch_export), expected.dtype);
    if (expected.exir != 0) {
      EXPECT_EQ(dtype_of_number(DtypeNumbering::kExir, expected.exir), expected.dtype);
    }
  }
}

TEST(SerializedDtypes, ReturnsNoneForUnknownNumbersAndDtypes) {
  for (const int64_t number : {int64_t{-1}, int64_t{0}, int64_t{14}, int64_t{36}, INT64_MAX}) {
    EXPECT_EQ(dtype_of_number(DtypeNumbering::kTorchExport, number), std::nullopt) << number;
  }
  EXPECT_EQ(dtype_of_number(DtypeNumbering::kExir, 28), std::nullopt);
  EXPECT_EQ(number_of_dtype(DtypeNumbering::kTorchExport, ScalarType::kQInt8), 0);
}

}  // namespace
}  // namespace vitrine
