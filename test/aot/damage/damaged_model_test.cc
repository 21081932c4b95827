// Changes a few values in the JSON of real models. Lowering must then either accept the model or
// throw an AotError that names a location. Run this under AddressSanitizer and
// UndefinedBehaviorSanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "test/aot/damage/json_damage.h"
#include "test/aot/import/pt2_writer.h"
#include "test/corruption/lowering_attempt.h"
#include "test/support/corpus.h"

namespace vitrine {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::ArchiveMembers;
using test::LoweringPath;

constexpr std::array kCases = {"add_mul",
                               "channels_last_conv",
                               "cond_model",
                               "cond_model_sum",
                               "conv_relu_tan",
                               "digits_xnnpack_q8",
                               "digits_xnnpack",
                               "dynamic_batch_xnnpack",
                               "encoder_layer_sdpa",
                               "f16_conv",
                               "gru_portable",
                               "kv_cache",
                               "linear_relu",
                               "mlp_dynq",
                               "mlp_qb4w",
                               "mutable_acc_init",
                               "split_concat_pool",
                               "softmax_layernorm_attention",
                               "compat/v0.5.0/pt2_tied_buffers_constants"};

struct Model {
  std::string name;
  ArchiveMembers members;
  size_t program = 0;  // index of the member with the program
  json original;
};

std::vector<Model> models() {
  std::vector<Model> found;
  for (const char* name : kCases) {
    for (const char* form : {"model.pt2", "model_core_aten.pt2"}) {
      const fs::path file = test::corpus_dir() / name / form;
      if (!fs::exists(file)) continue;
      Model model{std::string(name) + "/" + form, test::read_zip(file.string()), 0, {}};
      const auto program = std::ranges::find_if(model.members, [](const auto& member) {
        return member.first.ends_with("models/model.json") ||
               member.first == "serialized_exported_program.json";
      });
      if (program == model.members.end()) continue;
      model.program = static_cast<size_t>(program - model.members.begin());
      model.original = json::parse(program->second, nullptr, false);
      if (!model.original.is_discarded()) found.push_back(std::move(model));
    }
  }
  return found;
}

// True if the error names a location: the file, a node, an input or a result.
bool names_location(const std::string& error) {
  constexpr std::array kLocations = {"model.pt2: ", "node ", "result ", "input "};
  return std::ranges::any_of(
      kLocations, [&](const char* location) { return error.find(location) != std::string::npos; });
}

size_t mutations_per_model() {
  const char* count = std::getenv("VITRINE_DAMAGE_COUNT");
  return count == nullptr ? 45 : std::strtoul(count, nullptr, 10);
}

TEST(DamagedModel, IsLoweredOrRejected) {
  VITRINE_NEEDS_CORPUS();
  std::vector<Model> all = models();
  test::ValuePool pool;
  for (const Model& model : all) pool.add(model.original);
  size_t rejected_by_import = 0;
  size_t rejected_later = 0;
  size_t accepted = 0;
  double slowest = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    Model& model = all[i];
    test::ValuePool own;  // values of this model only, whose names are valid here
    own.add(model.original);
    for (size_t number = 0; number < mutations_per_model(); ++number) {
      std::mt19937 random(static_cast<uint32_t>(i * 1000003 + number));
      json program = model.original;
      for (size_t changes = random() % 4 == 0 ? 2 : 1; changes > 0; --changes) {
        test::damage(program, random() % 4 == 0 ? pool : own, random);
      }
      model.members[model.program].second =
          program.dump(-1, ' ', false, json::error_handler_t::replace);
      const std::vector<std::byte> bytes = test::write_zip(model.members);
      const auto path = static_cast<LoweringPath>(number % 3);
      SCOPED_TRACE(model.name + " " + std::to_string(number));
      const auto begin = std::chrono::steady_clock::now();
      try {
        const std::string error = test::attempt_lowering(bytes, path);
        EXPECT_TRUE(error.empty() || names_location(error)) << error;
        const bool is_import = error.starts_with("model.pt2: ");
        ++(error.empty() ? accepted : is_import ? rejected_by_import : rejected_later);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "not an AotError: " << error.what();
      }
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      slowest = std::max(slowest, took.count());
    }
  }
  std::printf("%zu rejected by import, %zu later, %zu accepted; the slowest took %.1f s\n",
              rejected_by_import, rejected_later, accepted, slowest);
  EXPECT_GT(rejected_later, mutations_per_model() / 2);
  EXPECT_GT(accepted, 0U);
}

}  // namespace
}  // namespace vitrine
