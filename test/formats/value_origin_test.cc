// Tests the text that names the operator and the quantization of a logged value.
#include "formats/etdump/value_origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine::etdump {
namespace {

using testing::Eq;
using testing::FieldsAre;
using testing::Optional;

TEST(ValueOrigin, ReadsWhatItWrites) {
  const ValueOrigin plain{.op = 12, .result = 1, .stored_as = {}};
  EXPECT_EQ(format_origin(plain), "operator 12 result 1");
  EXPECT_THAT(parse_origin(format_origin(plain)), Optional(FieldsAre(12, 1, Eq(std::nullopt))));

  const ValueOrigin quantized{
      .op = 3, .result = 0, .stored_as = StoredAs{ScalarType::kByte, 4, 0.1F, 128}};
  EXPECT_EQ(format_origin(quantized),
            "operator 3 result 0 uint8 scale 0.100000001 zero_point 128 rows 4");
  EXPECT_THAT(parse_origin(format_origin(quantized)),
              Optional(FieldsAre(3, 0, Optional(FieldsAre(ScalarType::kByte, 4, 0.1F, 128)))));
}

TEST(ValueOrigin, RejectsMalformedText) {
  for (const char* text :
       {"", "operator", "operator x result 0", "operator 1", "operator 1 result",
        "operator 1 result -1", "operator 1 result 0 int4 scale 1 zero_point 0 rows 1",
        "operator 1 result 0 int8", "operator 1 result 0 int8 scale nan zero_point 0 rows 1",
        "operator 1 result 0 int8 scale 1 zero_point 0 rows 1 more", "aten_conv"}) {
    EXPECT_FALSE(parse_origin(text)) << text;
  }
}

}  // namespace
}  // namespace vitrine::etdump
