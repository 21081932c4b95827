#include "tools/pte_inspect/verification.h"

#include <fmt/format.h>

#include <functional>

#include "api/builtin.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "formats/bundled_program/bundled_program.h"
#include "formats/etdump/etdump_reader.h"
#include "inspector/join/make_profile.h"
#include "runtime/program/program_access.h"
#include "tools/common/backends.h"
#include "tools/common/delegate_lines.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"
#include "tools/pte_inspect/loading.h"
#include "vitrine/method.h"

namespace vitrine::tools {
namespace {

class Verifier {
 public:
  explicit Verifier(const NamedDataMap* data) : data_(data) {}

  std::vector<CheckResult> verify(const OpenedFile& file) {
    FileKind kind{};
    if (!run_check("kind", [&] { kind = kind_of_file(file.bytes, file.name); })) {
      return std::move(results_);
    }
    results_.back().name += std::string(": ") + kind_name(kind);
    switch (kind) {
      case FileKind::kProgram:
        verify_program(file);
        break;
      case FileKind::kBundledProgram:
        run_check("bundle", [&] {
          const auto bundle = bundled::parse_bundled_program(file.bytes, file.name);
          const AlignedBytes program(bundle.program);
          verify_program({file.name + ": program", program.bytes()});
        });
        break;
      case FileKind::kTrace:
        run_check("structure", [&] { etdump::parse_etdump(file.bytes, file.name); });
        run_check("runs", [&] {
          inspector::ProfileOptions options;
          options.delegates = all_delegate_profiles();
          inspector::make_profile(etdump::parse_etdump(file.bytes, file.name), nullptr, options);
        });
        break;
      default:
        run_check("contents", [&] { describe_file(file); });
    }
    return std::move(results_);
  }

 private:
  // Returns true if the check passed. Adds the check's result before the results of nested checks.
  bool run_check(std::string name, const std::function<void()>& run) {
    const size_t index = results_.size();
    results_.push_back({std::move(name), ""});
    try {
      run();
      return true;
    } catch (const HostError& error) {
      results_[index].error = error.what();
      return false;
    }
  }

  // Reads a payload of a backend other than XNNPACK. The constants in the payload must exist.
  void verify_foreign(const Program& program, const schema::program::BackendDelegate& delegate,
                      std::span<const std::byte> bytes, const std::string& method,
                      Budget& steps) const {
    if (!steps.take(bytes.size()))
      throw ToolError("not read: the payloads of all delegates exceed the work limit of the file");
    const MergedNamedData data(&program.named_data(), data_);
    delegates::PayloadInput input = payload_input(delegate, bytes);
    input.data = &data;
    input.method = method;
    const delegates::PayloadDescription payload = delegates::describe_payload(input);
    if (payload.missing_constants == 0) return;
    throw ToolError(payload.notes.back());
  }

  void verify_program(const OpenedFile& file) {
    std::shared_ptr<const Program> program;
    if (!run_check("structure: header, flatbuffer, indices, sizes, segments",
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
        const std::string_view backend = delegate.id()->string_view();
        const bool is_ours = backend == xnnpack::kBackendId;
        if (!is_ours && delegates::find_reader(backend) == nullptr) continue;
        run_check(fmt::format("method {}: delegate {}: payload", name, i), [&] {
          const DataBuffer data = check(ProgramAccess::payload(*program, *delegate.processed()));
          if (!is_ours) {
            return verify_foreign(*program, delegate, data.bytes(), name, steps);
          }
          load_xnnpack_graph(data.bytes(), fmt::format("{}: delegate {}", file.name, i), steps);
        });
      }
      run_check(fmt::format("method {}: loads with this build's kernels and backends", name), [&] {
        MethodOptions options;
        options.kernels = &builtin_kernels();
        options.backends = &all_backends();
        options.external_data = data_;
        options.check_plan = &refuse_overlaps;
        auto method = Method::load(program, name, options);
        if (!method.ok()) {
          throw ToolError(method.take_error().in("%s: %s", file.name.c_str(), name.c_str()));
        }
        // The code kInvalidProgram means a faulty program. Other warnings depend on the machine.
        const Error& warning = (*method)->warning();
        if (warning.code() == ErrorCode::kInvalidProgram) throw ToolError(warning);
      });
    }
  }

  const NamedDataMap* data_;
  std::vector<CheckResult> results_;
};

}  // namespace

std::vector<CheckResult> verify_file(const OpenedFile& file, const NamedDataMap* data) {
  return Verifier(data).verify(file);
}

}  // namespace vitrine::tools
