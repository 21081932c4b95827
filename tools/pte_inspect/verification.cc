#include "tools/pte_inspect/verification.h"

#include <fmt/format.h>

#include <functional>

#include "api/builtin.h"
#include "backends/xnnpack/format/identifiers.h"
#include "formats/bundled_program/bundled_program.h"
#include "formats/etdump/etdump_reader.h"
#include "host/delegate_profiles.h"
#include "host/session.h"
#include "host/tool_error.h"
#include "inspector/join/make_profile.h"
#include "runtime/program/program_access.h"
#include "tools/pte_inspect/loading.h"
#include "vitrine/method.h"

namespace vitrine::tools {
namespace {

class Verifier {
 public:
  explicit Verifier(const NamedDataMap* data) : data_(data) {}

  std::vector<VerifiedStep> verify(const OpenedFile& file) {
    FileKind kind{};
    if (!step("kind", [&] { kind = kind_of_file(file.bytes, file.name); })) {
      return std::move(steps_);
    }
    steps_.back().what += std::string(": ") + kind_name(kind);
    switch (kind) {
      case FileKind::kProgram:
        verify_program(file);
        break;
      case FileKind::kBundledProgram:
        step("bundle", [&] {
          const auto bundle = bundled::parse_bundled_program(file.bytes, file.name);
          const AlignedBytes program(bundle.program);
          verify_program({file.name + ": program", program.bytes()});
        });
        break;
      case FileKind::kTrace:
        step("structure", [&] { etdump::parse_etdump(file.bytes, file.name); });
        step("runs", [&] {
          inspector::ProfileOptions options;
          options.delegates = all_delegate_profiles();
          inspector::make_profile(etdump::parse_etdump(file.bytes, file.name), nullptr, options);
        });
        break;
      default:
        step("contents", [&] { describe_file(file); });
    }
    return std::move(steps_);
  }

 private:
  // Runs a check. Its step comes before the steps of checks inside it.
  bool step(std::string what, const std::function<void()>& run) {
    const size_t index = steps_.size();
    steps_.push_back({std::move(what), ""});
    try {
      run();
      return true;
    } catch (const HostError& error) {
      steps_[index].error = error.what();
      return false;
    }
  }

  void verify_program(const OpenedFile& file) {
    std::shared_ptr<const Program> program;
    if (!step("structure: header, flatbuffer, indices, sizes, segments",
              [&] { program = load_program(file); })) {
      return;
    }
    Budget steps(default_load_steps(program->file_bytes()));
    for (size_t m = 0; m < program->num_methods(); ++m) {
      const std::string name(program->method_name(m));
      const auto& plan =
          *ProgramAccess::root(*program).execution_plan()->Get(static_cast<uint32_t>(m));
      for (uint32_t i = 0; plan.delegates() != nullptr && i < plan.delegates()->size(); ++i) {
        const auto& delegate = *plan.delegates()->Get(i);
        if (delegate.id()->string_view() != xnnpack::kBackendId) continue;
        step(fmt::format("method {}: delegate {}: payload", name, i), [&] {
          const DataBuffer data =
              check(ProgramAccess::delegate_data(*program, *delegate.processed()));
          load_xnnpack_graph(data.bytes(), fmt::format("{}: delegate {}", file.name, i), steps);
        });
      }
      step(fmt::format("method {}: loads with this build's kernels and backends", name), [&] {
        MethodOptions options;
        options.kernels = &builtin_kernels();
        options.backends = &builtin_backends();
        options.external_data = data_;
        options.check_plan = refuse_overlaps;
        auto method = Method::load(program, name, options);
        if (!method.ok()) {
          throw ToolError(method.take_error().in("%s: %s", file.name.c_str(), name.c_str()));
        }
      });
    }
  }

  const NamedDataMap* data_;
  std::vector<VerifiedStep> steps_;
};

}  // namespace

std::vector<VerifiedStep> verify_file(const OpenedFile& file, const NamedDataMap* data) {
  return Verifier(data).verify(file);
}

}  // namespace vitrine::tools
