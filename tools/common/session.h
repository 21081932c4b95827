// Loads a program and its methods with all kernels and backends of this build.
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

extern const char* const kDefaultBackend;

// Lowers an exported model to a program. `backend` is a name for `pte_lower --backend`, or null for
// kernels only. The method of a .pt2 gets the name `method`. Throws a HostError.
using ModelLowering = std::vector<std::byte> (*)(const std::filesystem::path& model,
                                                 const std::string& method, const char* backend);
// Sets the function that lowers exported models (.pt2, .ptn). Tools without ahead-of-time code do
// not call this function, and refuse such files. Not thread-safe.
void set_model_lowering(ModelLowering lowering);
ModelLowering model_lowering();  // null if this program cannot lower

struct SessionOptions {
  std::filesystem::path model;                      // .pte or .bpte, or a model to lower
  std::vector<std::filesystem::path> data;          // .ptd files
  size_t threads = 0;                               // 0: one per performance core
  std::vector<BackendOption> backend_options = {};  // their texts must outlive the session
  bool optimized_kernels = true;
  MethodLimits limits = {};
  // Allows outputs that no instruction writes. load_method() then prints a warning.
  bool accept_unwritten_outputs = false;
  std::shared_ptr<ThreadPool> pool = {};  // null: the session creates one with `threads`
  bool fixed_threads = false;             // the pool uses ThreadPool::Use::kAlways
  // The bytes of the program, which must outlive the session. `model` is then only a name for
  // messages.
  std::span<const std::byte> program = {};
};

// Opens a model file with its external data and a thread pool. Throws ToolError.
class Session {
 public:
  explicit Session(const SessionOptions& options);

  const std::shared_ptr<const Program>& program() const { return program_; }
  // The bundled program, or null if the model is a plain program. Valid while the session is alive.
  const bundled::BundledProgram* bundle() const { return bundle_ ? &*bundle_ : nullptr; }
  const std::shared_ptr<ThreadPool>& pool() const { return pool_; }
  // Time in ns to open and load the program, without lowering.
  uint64_t load_ns() const { return load_ns_; }
  // Time in ns to open and map the file. load_ns() also includes the verification.
  uint64_t open_ns() const { return open_ns_; }

  // Allocates memory for outputs that are not memory-planned. Methods that share state must not
  // execute at the same time. The session must outlive the method. `tracer` may be null.
  std::unique_ptr<Method> load_method(const std::string& name, EventTracer* tracer = nullptr);

 private:
  std::unique_ptr<DataSource> open_model(const SessionOptions& options);
  std::unique_ptr<DataSource> lower_model(const std::filesystem::path& path);

  std::vector<std::byte> lowered_;           // a program that this session lowered
  std::unique_ptr<DataSource> bundle_file_;  // the bundle's spans point into it
  std::optional<bundled::BundledProgram> bundle_;
  DataFiles data_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<SharedState> shared_state_;
  std::vector<BackendOption> backend_options_;
  bool optimized_kernels_;
  MethodLimits limits_;
  bool accept_unwritten_outputs_;
  uint64_t lowering_ns_ = 0;
  uint64_t load_ns_ = 0;
  uint64_t open_ns_ = 0;
};

}  // namespace vitrine::tools
