// Tests delegates whose weights are in one or more files next to the program.
#include <gmock/gmock.h>

#include "aot/emit/emit.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "test/backends/xnnpack/aot/test_program.h"
#include "test/support/expect_error.h"
#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"
#include "vitrine/array.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;
using testing::Key;

// Emits x @ first.T @ second.T + one.
EmittedProgram emit_with_external_weights(const FileOfWeight& file_of) {
  TestProgram t;
  Node* x = t.input("x", {1, 2});
  Node* first = t.parameter("first", {2, 2}, {1, 2, 3, 4});
  Node* second = t.parameter("second", {2, 2}, {5, 6, 7, 8});
  Node* one = t.parameter("one", {1}, {1});
  Node* a = t.call("aten.linear.default", {x, first}, {1, 2});
  Node* b = t.call("aten.linear.default", {a, second}, {1, 2});
  t.output({t.call("aten.add.Tensor", {b, one}, {1, 2})});
  tag_external_constants(t.program, file_of);
  to_backend(t.program, XnnpackPartitioner());
  to_executable(t.program);
  Methods methods;
  methods.emplace("forward", std::move(t.program));
  return emit(methods);
}

class ExternalConstants : public testing::Test {
 protected:
  std::vector<std::filesystem::path> write(const EmittedProgram& emitted) {
    tools::write_file(scratch / "m.pte", emitted.pte);
    std::vector<std::filesystem::path> files;
    for (const auto& [tag, bytes] : emitted.ptd) {
      files.push_back(scratch / (tag + ".ptd"));
      tools::write_file(files.back(), bytes);
    }
    return files;
  }

  std::vector<float> run(const std::vector<std::filesystem::path>& data) {
    tools::Session session({scratch / "m.pte", data, 1, {}, true});
    const std::unique_ptr<Method> method = session.load_method("forward");
    const std::vector<float> numbers = {1, -1};
    Array x = tools::check(Array::copy_of<float>(numbers, {1, 2}));
    tools::check(method->set_input(0, EValue(&x.mutable_tensor())));
    tools::check(method->execute());
    const float* y = method->output(0).unchecked_tensor().data<float>();
    return {y, y + 2};
  }

  vitrine::test::ScratchFolder scratch;
};

TEST_F(ExternalConstants, AreWrittenToTheFilesOfTheirTags) {
  const EmittedProgram emitted = emit_with_external_weights([](const InputSpec& weight) {
    return weight.name == "one" ? std::string() : "data_" + weight.name;
  });
  EXPECT_THAT(emitted.ptd, ElementsAre(Key("data_first"), Key("data_second")));
  const std::vector<std::filesystem::path> files = write(emitted);
  // (1, -1) @ first.T = (-1, -1), and (-1, -1) @ second.T + 1 = (-11, -15) + 1.
  EXPECT_THAT(run(files), ElementsAre(-10, -14));
  EXPECT_ERROR(std::exception, run({files[0]}), "named data");
}

TEST_F(ExternalConstants, AreNotWrittenWithoutTags) {
  const EmittedProgram emitted =
      emit_with_external_weights([](const InputSpec&) { return std::string(); });
  EXPECT_TRUE(emitted.ptd.empty());
  write(emitted);
  EXPECT_THAT(run({}), ElementsAre(-10, -14));
}

// The keys are computed from the bytes, so programs with the same weights can use one file.
TEST_F(ExternalConstants, EqualWeightsGiveEqualFiles) {
  const FileOfWeight all = [](const InputSpec&) { return std::string("weights"); };
  EXPECT_EQ(emit_with_external_weights(all).ptd, emit_with_external_weights(all).ptd);
}

}  // namespace
}  // namespace vitrine::aot::test
