// Program is a verified, immutable view of a .pte file. Format: docs/formats/program.md.
//
// Loading checks the header, the flatbuffer and every index and offset once (docs/trust.md). Later
// code relies on these checks. Methods and threads may share a Program.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "vitrine/data_source.h"
#include "vitrine/error.h"
#include "vitrine/extended_header.h"
#include "vitrine/method_meta.h"
#include "vitrine/named_data.h"

namespace vitrine {

enum class Verification : uint8_t {
  kFull,  // checks the structure of the flatbuffer, and every index, offset and size in it
  kNone,  // checks nothing: loading a damaged file is undefined behavior
};

class Program {
 public:
  // For an invalid file, returns InvalidProgram with the location in the file, such as
  // "execution_plan[0].values[37].sizes".
  static Result<std::shared_ptr<const Program>> load(
      std::unique_ptr<DataSource> source, Verification verification = Verification::kFull);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  size_t num_methods() const;
  // Empty if `index` is out of range. Valid while the program exists.
  std::string_view method_name(size_t index) const;
  // For an unknown name, returns InvalidArgument with the existing methods.
  Result<MethodMeta> method_meta(std::string_view name) const;

  // The named data in the program's own file. Valid while the program exists.
  const NamedDataMap& named_data() const { return *named_data_; }

  uint64_t file_bytes() const { return source_->size(); }
  uint64_t stamp() const { return source_->stamp(); }

 private:
  friend struct ProgramAccess;  // runtime/program/program_access.h
  Program(std::unique_ptr<DataSource> source, DataBuffer flatbuffer, uint64_t segment_base);
  Error load_constants();

  std::unique_ptr<DataSource> source_;
  DataBuffer flatbuffer_;
  const void* root_;  // root table of flatbuffer_
  uint64_t segment_base_;
  DataBuffer constants_;
  std::unique_ptr<NamedDataMap> named_data_;
};

}  // namespace vitrine
