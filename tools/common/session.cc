#include "tools/common/session.h"

#include <fmt/format.h>

#include "api/builtin.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "runtime/platform/clock.h"
#include "tools/common/backends.h"
#include "tools/common/delegate_lines.h"
#include "tools/common/file_kind.h"
#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

template <class T>
T check_file(const std::filesystem::path& path, Result<T> result) {
  if (!result.ok()) throw ToolError(result.take_error().in("%s", path.c_str()));
  return std::move(*result);
}

ModelLowering g_lowering = nullptr;

}  // namespace

void set_model_lowering(ModelLowering lowering) { g_lowering = lowering; }
ModelLowering model_lowering() { return g_lowering; }

const char* const kDefaultBackend = xnnpack::kBackendId;

Session::Session(const SessionOptions& options)
    : backend_options_(options.backend_options),
      optimized_kernels_(options.optimized_kernels),
      limits_(options.limits),
      accept_unwritten_outputs_(options.accept_unwritten_outputs) {
  std::vector<const char*> data;
  for (const std::filesystem::path& file : options.data) data.push_back(file.c_str());
  data_ = check(DataFiles::load(data));
  pool_ = options.pool;
  if (!pool_) {
    pool_ = check(ThreadPool::create(options.threads, options.fixed_threads
                                                          ? ThreadPool::Use::kAlways
                                                          : ThreadPool::Use::kAdaptive));
  }
  const uint64_t start = platform::now_ns();
  std::unique_ptr<DataSource> model = open_model(options);
  open_ns_ = platform::now_ns() - start - lowering_ns_;
  program_ = check_file(options.model, Program::load(std::move(model)));
  load_ns_ = platform::now_ns() - start - lowering_ns_;
}

// Opens the file of a model. Unpacks bundled programs and lowers exported models.
std::unique_ptr<DataSource> Session::open_model(const SessionOptions& options) {
  if (!options.program.empty()) return check(view_buffer(options.program));
  const std::filesystem::path& path = options.model;
  std::unique_ptr<DataSource> file = check(map_file(path.c_str()));
  const DataBuffer all = check(file->read(0, file->size()));
  const std::optional<FileKind> kind = find_file_kind(all.bytes());
  if (model_lowering() != nullptr &&
      (kind == FileKind::kExportedModel || kind == FileKind::kNativeModel)) {
    return lower_model(path);
  }
  check_kind(path, all.bytes(), "a program (.pte)",
             {FileKind::kProgram, FileKind::kBundledProgram});
  if (!bundled::is_bundled_program(all.bytes())) return file;
  bundle_ = bundled::parse_bundled_program(all.bytes(), path.string());
  bundle_file_ = std::move(file);
  return check(view_buffer(bundle_->program));
}

std::unique_ptr<DataSource> Session::lower_model(const std::filesystem::path& path) {
  const uint64_t start = platform::now_ns();
  lowered_ = model_lowering()(path, "forward", "xnnpack");
  lowering_ns_ = platform::now_ns() - start;
  print_note(
      fmt::format("{}: lowered for {} in memory in {:.2f} s; 'vitrine lower' writes a "
                  "program (.pte), which opens faster",
                  path.string(), kDefaultBackend, static_cast<double>(lowering_ns_) * 1e-9));
  return check(view_buffer(lowered_));
}

std::unique_ptr<Method> Session::load_method(const std::string& name, EventTracer* tracer) {
  if (!shared_state_) {
    shared_state_ = check(SharedState::create(program_, {}, limits_.max_memory_bytes));
  }
  MethodOptions options;
  options.kernels = &builtin_kernels(optimized_kernels_);
  options.backends = &all_backends();
  options.external_data = data_.all();
  options.pool = pool_.get();
  options.backend_options = backend_options_;
  options.tracer = tracer;
  options.shared_state = shared_state_.get();
  options.limits = limits_;
  options.check_plan = &refuse_overlaps;
  options.accept_unwritten_outputs = accept_unwritten_outputs_;
  options.cancel_flag = &cancel_flag();
  auto loaded = Method::load(program_, name, options);
  if (!loaded.ok()) {
    const ToolError error(loaded.error());
    std::string text = error.what();
    for (const std::string& line :
         delegate_lines(*program_, name, data_.all(), DelegateChoice::kMissing)) {
      text += "\n  " + line;
    }
    if (text != error.what()) {
      text +=
          "\n  to lower the same model for this machine and run the result: 'vitrine run PROGRAM "
          "--replace_delegates MODEL.pt2'";
    }
    throw ToolError(text, error.code());
  }
  std::unique_ptr<Method> method = std::move(*loaded);
  if (const Error& warning = method->warning(); !warning.ok()) {
    print_warning(warning.message());
  }
  check(method->allocate_outputs());
  return method;
}

}  // namespace vitrine::tools
