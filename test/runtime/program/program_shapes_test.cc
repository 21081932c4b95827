#include "runtime/program/program_shapes.h"

#include <flatbuffers/reflection_generated.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "schema/program_generated.h"
#include "test/runtime/program/whole_program.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;
using reflection::BaseType;
using test::AlignedBytes;

constexpr const char* kNames[] = {"ContainerMetadata",
                                  "AllocationDetails",
                                  "ExtraTensorInfo",
                                  "Null",
                                  "Int",
                                  "Bool",
                                  "Double",
                                  "Tensor",
                                  "String",
                                  "IntList",
                                  "DoubleList",
                                  "BoolList",
                                  "TensorList",
                                  "OptionalTensorList",
                                  "EValue",
                                  "Operator",
                                  "KernelCall",
                                  "DelegateCall",
                                  "MoveCall",
                                  "JumpFalseCall",
                                  "FreeCall",
                                  "Instruction",
                                  "Frame",
                                  "FrameList",
                                  "BackendDelegateDataReference",
                                  "CompileSpec",
                                  "BackendDelegate",
                                  "Chain",
                                  "NonConstBufferDevice",
                                  "ExecutionPlan",
                                  "Buffer",
                                  "BackendDelegateInlineData",
                                  "DataSegment",
                                  "SubsegmentOffsets",
                                  "NamedData",
                                  "Program"};
static_assert(std::size(kNames) == program_shape::kCount);

// What a field must be called for the texts of two shapes to be equal.
std::string text_of(const FieldShape& field) {
  switch (field.kind) {
    case FieldShape::kScalar:
      return "scalar " + std::to_string(field.argument);
    case FieldShape::kString:
      return "string";
    case FieldShape::kVector:
      return "vector " + std::to_string(field.argument);
    case FieldShape::kTable:
      return std::string("table ") + kNames[field.argument];
    case FieldShape::kTables:
      return std::string("tables ") + kNames[field.argument];
    case FieldShape::kUnion: {
      std::string text = "union";
      for (size_t i = 0; i < field.count; ++i)
        text += std::string(" ") + kNames[field.argument + i];
      return text;
    }
    default:
      return "?";
  }
}

std::string scalar_bytes(BaseType type) {
  switch (type) {
    case reflection::UType:
    case reflection::Bool:
    case reflection::Byte:
    case reflection::UByte:
      return "1";
    case reflection::Int:
    case reflection::UInt:
      return "4";
    case reflection::Long:
    case reflection::ULong:
    case reflection::Double:
      return "8";
    default:
      return "?";
  }
}

class ProgramShapes : public testing::Test {
 protected:
  ProgramShapes() {
    std::ifstream stream(VITRINE_REFLECTED_PROGRAM, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(stream), {});
    schema_ = bytes_.empty() ? nullptr : reflection::GetSchema(bytes_.data());
  }

  static std::string plain_name(const flatbuffers::String& name) {
    return name.str().substr(name.str().rfind('.') + 1);
  }
  std::string object_name(int32_t index) const {
    return plain_name(*schema_->objects()->Get(static_cast<uint32_t>(index))->name());
  }

  std::string text_of_type(const reflection::Type& type) const {
    switch (type.base_type()) {
      case reflection::String:
        return "string";
      case reflection::Obj:
        return "table " + object_name(type.index());
      case reflection::Vector:
        if (type.element() == reflection::Obj) return "tables " + object_name(type.index());
        return "vector " + scalar_bytes(type.element());
      case reflection::Union: {
        std::string text = "union";
        const auto& values = *schema_->enums()->Get(static_cast<uint32_t>(type.index()))->values();
        for (uint32_t i = 1; i < values.size(); ++i) {  // 0 is NONE
          EXPECT_EQ(values.Get(i)->value(), i);
          text += " " + object_name(values.Get(i)->union_type()->index());
        }
        return text;
      }
      default:
        return "scalar " + scalar_bytes(type.base_type());
    }
  }

  std::string bytes_;
  const reflection::Schema* schema_ = nullptr;
};

TEST_F(ProgramShapes, AreTheSchemas) {
  ASSERT_NE(schema_, nullptr) << VITRINE_REFLECTED_PROGRAM;
  const TableShapes shapes = program_shapes();
  EXPECT_EQ(schema_->objects()->size(), program_shape::kCount);
  for (const reflection::Object* object : *schema_->objects()) {
    const std::string name = plain_name(*object->name());
    const auto found = std::find(std::begin(kNames), std::end(kNames), name);
    ASSERT_NE(found, std::end(kNames)) << name << " is not among the shapes";
    const auto number = static_cast<size_t>(found - std::begin(kNames));
    const std::span fields(shapes.fields + shapes.starts[number],
                           shapes.fields + shapes.starts[number + 1]);
    ASSERT_EQ(fields.size(), object->fields()->size()) << name;
    for (const reflection::Field* field : *object->fields()) {
      EXPECT_EQ(text_of(fields[field->id()]), text_of_type(*field->type()))
          << name << "." << field->name()->str();
    }
  }
}

bool verify(const AlignedBytes& file) {
  Budget steps;
  return verify_tables(file, program_shapes(), program_shape::kProgram, steps);
}
bool verify_as_generated(const AlignedBytes& file) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(file.data()), file.size(), 64,
                                 1u << 24);
  return fbs::VerifyProgramBuffer(verifier);
}

TEST(TableVerifier, AgreesWithTheGeneratedOneOnDamagedPrograms) {
  const AlignedBytes sound = test::whole_program().build();
  ASSERT_TRUE(verify(sound));
  ASSERT_TRUE(verify_as_generated(sound));
  size_t accepted = 0;
  size_t refused = 0;
  AlignedBytes file = sound;
  // The header after the root's offset and identifier is not part of a flatbuffer.
  const auto try_byte = [&](size_t at, std::byte value) {
    if (at >= 4 && at < 8) return;
    file[at] = value;
    const bool expected = verify_as_generated(file);
    ASSERT_EQ(verify(file), expected) << "byte " << at << " is " << static_cast<int>(value);
    ++(expected ? accepted : refused);
    file[at] = sound[at];
  };
  for (size_t at = 0; at < sound.size(); ++at) {
    for (const int flip : {0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80, 0xff}) {
      try_byte(at, sound[at] ^ static_cast<std::byte>(flip));
    }
  }
  // Several at once.
  uint32_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    file = sound;
    for (int flip = 0; flip < 3; ++flip) {
      random = random * 1664525u + 1013904223u;
      const size_t at = 8 + (random >> 8) % (file.size() - 8);
      file[at] ^= static_cast<std::byte>(1u << (random & 7u));
    }
    const bool expected = verify_as_generated(file);
    ASSERT_EQ(verify(file), expected) << "round " << i;
    ++(expected ? accepted : refused);
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(TableVerifier, AgreesWithTheGeneratedOneOnCutPrograms) {
  const AlignedBytes sound = test::whole_program().build();
  for (size_t size = 64; size < sound.size(); ++size) {
    const AlignedBytes file(sound.begin(), sound.begin() + static_cast<ptrdiff_t>(size));
    ASSERT_EQ(verify(file), verify_as_generated(file)) << size << " bytes";
  }
}

TEST(TableVerifier, BoundsTheNumberOfTables) {
  const AlignedBytes file = test::whole_program().build();
  Budget ten(10);
  EXPECT_FALSE(verify_tables(file, program_shapes(), program_shape::kProgram, ten));
}

}  // namespace
}  // namespace vitrine
