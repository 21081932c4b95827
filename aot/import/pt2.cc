#include "aot/import/pt2.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aot/graph/lint.h"
#include "aot/import/import_error.h"
#include "aot/import/program_reader.h"
#include "aot/import/saved_tensors.h"
#include "aot/import/unwrap_subclasses.h"
#include "aot/import/weights_reader.h"
#include "base/format_error.h"
#include "base/json.h"
#include "base/zip_archive.h"

namespace vitrine::aot {
namespace {

constexpr uint64_t kMaxProgramBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxStateBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxTextBytes = 64;
constexpr std::string_view kFormatName = "archive_format";

[[noreturn]] void fail(const ZipArchive& archive, std::string_view member, std::string_view what) {
  throw ImportError(fmt::format("{}: {}: {}", archive.source(), member, what));
}

std::string source_of(const ZipArchive& archive, const std::string& member) {
  return fmt::format("{}: {}", archive.source(), member);
}

ExportedProgram read_json(const ZipArchive& archive, const std::string& member) {
  const JsonDocument document(archive.read(member, kMaxProgramBytes).text(),
                              source_of(archive, member));
  return read_program(document.root());
}

void set_weights(ExportedProgram& program, SavedWeights state, SavedWeights constants) {
  program.state_dict = std::move(state.tensors);
  program.constants = std::move(constants.tensors);
  // unwrap_subclasses() takes one map, so this merges the subclasses of state dict and constants.
  state.subclasses.merge(constants.subclasses);
  unwrap_subclasses(program, state.subclasses);
}

// Returns the root folder of a PT2 archive, such as "model/". Empty for other zip files.
std::string root_folder(const ZipArchive& archive) {
  for (const std::string& name : archive.names()) {
    const size_t slash = name.find('/');
    if (slash == std::string::npos || name.substr(slash + 1) != kFormatName) continue;
    return name.substr(0, slash + 1);
  }
  return "";
}

ExportedProgram read_archive(const ZipArchive& archive, const std::string& root) {
  const auto expect = [&](const std::string& name, std::string_view wanted, bool is_required) {
    const std::string member = root + name;
    if (!is_required && !archive.has(member)) return;
    const SharedBytes bytes = archive.read(member, kMaxTextBytes);
    if (bytes.text() == wanted) return;
    fail(archive, member, fmt::format("expected \"{}\", found \"{}\"", wanted, bytes.text()));
  };
  expect(std::string(kFormatName), "pt2", true);
  expect("archive_version", "0", true);
  expect("byteorder", "little", false);

  // Chooses the program "model", which is the name that torch.export.save uses. If no program has
  // this name, the archive must contain exactly one program.
  const std::string folder = root + "models/";
  constexpr std::string_view kJson = ".json";
  std::vector<std::string> models;
  for (const std::string& name : archive.names()) {
    if (!name.starts_with(folder) || !name.ends_with(kJson)) continue;
    models.push_back(name.substr(folder.size(), name.size() - folder.size() - kJson.size()));
  }
  if (models.empty()) fail(archive, folder, "does not contain a program");
  const auto named_model = std::ranges::find(models, "model");
  if (models.size() > 1 && named_model == models.end()) {
    fail(archive, folder,
         fmt::format("contains the programs {}, and none has the name \"model\"",
                     fmt::join(models, ", ")));
  }
  const std::string& model = named_model == models.end() ? models[0] : *named_model;

  ExportedProgram program = read_json(archive, folder + model + std::string(kJson));
  set_weights(program, read_weights(archive, root + "data/weights/", model, "weights"),
              read_weights(archive, root + "data/constants/", model, "constants"));
  return program;
}

ExportedProgram read_flat_zip(const ZipArchive& archive) {
  const std::string version(archive.read("version", kMaxTextBytes).text());
  if (!version.starts_with("8.")) {
    fail(archive, "version", fmt::format("is \"{}\", but only version 8 is supported", version));
  }
  ExportedProgram program = read_json(archive, "serialized_exported_program.json");
  const auto tensors = [&](const std::string& stem) {
    for (const char* extension : {".pt", ".json"}) {
      const std::string member = stem + extension;
      if (!archive.has(member)) continue;
      return read_saved_tensors(archive.read(member, kMaxStateBytes), source_of(archive, member));
    }
    fail(archive, stem + ".pt", "is missing from the archive");
  };
  set_weights(program, tensors("serialized_state_dict"), tensors("serialized_constants"));
  return program;
}

ExportedProgram read(const ZipArchive& archive) {
  const std::string root = root_folder(archive);
  if (root.empty() && !archive.has("version")) {
    throw ImportError(fmt::format(
        "{}: is not a .pt2 file: it has neither a member <folder>/archive_format nor \"version\"",
        archive.source()));
  }
  ExportedProgram program = root.empty() ? read_flat_zip(archive) : read_archive(archive, root);
  try {
    lint(program);
  } catch (const AotError& error) {
    throw ImportError(fmt::format("{}: {}", archive.source(), error.what()));
  }
  return program;
}

// Turns the FormatErrors of archives, JSON and pickles into ImportErrors.
template <class Open>
ExportedProgram import(Open open) try {
  return read(open());
} catch (const FormatError& error) {
  throw ImportError(error.what());
}

}  // namespace

ExportedProgram parse_pt2(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          const std::string& source) {
  return import([&] { return ZipArchive({bytes, std::move(owner)}, source); });
}

ExportedProgram import_pt2(const std::filesystem::path& file) {
  return import([&] { return ZipArchive::open(file); });
}

}  // namespace vitrine::aot
