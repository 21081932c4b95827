// Loads a method of a file with all kernels and backends of this build.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/data_files.h"
#include "formats/bundled_program/bundled_program.h"
#include "vitrine/method.h"
#include "vitrine/program.h"
#include "vitrine/thread_pool.h"

namespace vitrine::tools {

// The backend of options that name none.
extern const char* const kDefaultBackend;

struct SessionOptions {
  std::filesystem::path model;                      // .pte or .bpte
  std::vector<std::filesystem::path> data;          // .ptd files
  size_t threads = 0;                               // 0: as many as performing cores
  std::vector<BackendOption> backend_options = {};  // their texts must outlive the session
  bool optimized_kernels = true;
  MethodLimits limits = {};
  std::shared_ptr<ThreadPool> pool = {};  // null: the session makes one of `threads`
  // If not empty, the program: `model` is only its name in messages. Outlives the session.
  std::span<const std::byte> program = {};
};

// Program, external data and thread pool of one model file. Throws ToolError.
class Session {
 public:
  explicit Session(const SessionOptions& options);

  const std::shared_ptr<const Program>& program() const { return program_; }
  // Null if the model is a plain program. Valid as long as the session.
  const bundled::BundledProgram* bundle() const { return bundle_ ? &*bundle_ : nullptr; }
  const std::shared_ptr<ThreadPool>& pool() const { return pool_; }
  uint64_t load_ns() const { return load_ns_; }

  // Over the state that the program's methods share, if they do; they execute one at a time then.
  // Allocates and sets memory for outputs that the program does not plan. The session must outlive
  // the method. `tracer` may be null.
  std::unique_ptr<Method> load_method(const std::string& name, EventTracer* tracer = nullptr);

 private:
  std::unique_ptr<DataSource> open_model(const SessionOptions& options);

  std::unique_ptr<DataSource> bundle_file_;  // the bundle's spans point into it
  std::optional<bundled::BundledProgram> bundle_;
  DataFiles data_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<SharedState> shared_state_;
  std::vector<BackendOption> backend_options_;
  bool optimized_kernels_;
  MethodLimits limits_;
  uint64_t load_ns_ = 0;
};

}  // namespace vitrine::tools
