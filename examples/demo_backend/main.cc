// Uses the demo backend in a stand-alone program: lowers a model, prints its delegates, runs the
// program and prints a profile.
//
//   vitrine_example_demo_backend model.pt2
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "aot/emit/lowered_module_buffer.h"
#include "aot/lowering/delegated_graph.h"
#include "aot/lowering/lowered_modules.h"
#include "aot/pipeline/lower.h"
#include "demo_backend/lowering.h"
#include "demo_backend/profile.h"
#include "demo_backend/runtime.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/etdump_writer.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/make_profile.h"
#include "inspector/report/report_table.h"
#include "runtime/extension/trace_buffer.h"
#include "vitrine/kernels.h"
#include "vitrine/method.h"

using namespace vitrine;  // NOLINT(google-build-using-namespace)

namespace {

void check(const Error& error) {
  if (!error.ok()) throw std::runtime_error(error.message());
}

template <class T>
T check(Result<T> result) {
  if (!result.ok()) check(result.take_error());
  return std::move(*result);
}

void print_delegates(aot::Graph& graph) {
  std::printf("%s\n", delegation::format_delegated_graph(graph).c_str());
  for (const aot::LoweredSubmodule& each : aot::get_lowered_submodules(graph)) {
    // A program that calls only this delegate, in two forms: a graph and a .pte file.
    const aot::ExportedProgram program = aot::delegate_program(each.module);
    const aot::EmittedProgram file = aot::lowered_module_buffer(each.module);
    std::printf(
        "%s: called by %s; a program with only this delegate has %zu inputs and %zu bytes\n",
        each.name.c_str(), each.call->name().c_str(), program.signature.inputs.size(),
        file.pte.size());
  }
  for (const auto& module : aot::get_lowered_backend_modules(graph)) {
    std::printf("%s: %zu bytes of payload, %zu operators\n", module->backend_id.c_str(),
                module->payload->size(), module->delegate_map.size());
  }
}

// Runs the program with inputs of 0.5. Returns its trace as an ETDump.
std::vector<uint8_t> run(const std::vector<std::byte>& pte) {
  KernelRegistry kernels;
  check(kernels.add("portable", portable::kernels()));
  BackendRegistry backends;
  check(backends.add(&demo::backend()));
  TraceBuffer trace;
  const auto program = check(Program::load(check(view_buffer(pte))));
  const auto method = check(Method::load(
      program, "forward", {.kernels = &kernels, .backends = &backends, .tracer = &trace}));
  for (size_t i = 0; i < method->num_inputs(); ++i) {
    Tensor input = *check(method->input(i).as_tensor());
    std::vector<float> numbers(static_cast<size_t>(input.numel()), 0.5F);
    input.set_data(numbers.data());
    check(method->set_input(i, EValue(&input)));
  }
  check(method->execute());
  return check(write_etdump(trace));
}

void print_profile(std::span<const uint8_t> dump, std::span<const std::byte> record) {
  const etrecord::EtRecord names = etrecord::parse_etrecord(record);
  const std::array delegates = {&demo::profile()};
  inspector::ProfileOptions options;
  options.delegates = delegates;
  const inspector::Profile profile =
      inspector::make_profile(etdump::parse_etdump(std::as_bytes(dump)), &names, options);
  std::printf("\n%s", inspector::report_table(profile).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: vitrine_example_demo_backend model.pt2\n");
    return 2;
  }
  try {
    aot::LowerOptions options;
    options.partitioners.push_back(std::make_shared<demo::DemoPartitioner>());
    options.make_record = true;
    aot::LoweredModel model = aot::lower(aot::import_methods({{"forward", argv[1]}}), options);
    print_delegates(*model.methods.at("forward").graph);
    print_profile(run(model.emitted.pte), model.record);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
