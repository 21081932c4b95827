/* Tests the options of the C API.
 * Usage: c_api_options_test SAMPLES_FOLDER FOLDER_TO_WRITE_TO */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/api/c_api_checks.h"

/* Passes the options of a program that was compiled before `profile` was added. */
static void check_older_options(const char* path) {
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.struct_size = offsetof(vitrine_options, profile);
  options.profile = 1;
  vitrine_module* module = load(path, &options);
  char* json = NULL;
  expect_error(vitrine_module_profile_json(module, &json), 0x2, "vitrine_options.profile");
  vitrine_module_free(module);
}

static void check_options(const char* path) {
  vitrine_module* module = NULL;
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.struct_size = 0;
  options.threads = 99999;
  expect_error(vitrine_module_load_file(path, &options, &module), 0x12, "VITRINE_OPTIONS_INIT");
  options.struct_size = offsetof(vitrine_options, profile) - 1;
  expect_error(vitrine_module_load_file(path, &options, &module), 0x12, "struct_size");

  vitrine_options files = VITRINE_OPTIONS_INIT;
  files.num_data_files = 1;
  expect_error(vitrine_module_load_file(path, &files, &module), 0x12, "data_files is NULL");
  const char* const none[] = {NULL};
  files.data_files = none;
  expect_error(vitrine_module_load_file(path, &files, &module), 0x12, "data_files[0] is NULL");
  expect(module == NULL, "no module is returned for invalid options");
}

/* Returns the options of a program that was compiled when they had `struct_size` bytes. Bytes after
 * the members, including padding, are undefined. */
static vitrine_options older_options(size_t struct_size) {
  vitrine_options options;
  memset(&options, 0xFF, sizeof(options));
  options.struct_size = struct_size;
  options.threads = 1;
  options.data_files = NULL;
  options.num_data_files = 0;
  options.profile = 0;
  return options;
}

static void check_padding(const char* path) {
  vitrine_options options = older_options(offsetof(vitrine_options, portable_kernels_only));
  options.profile = 1;
  vitrine_module* module = load(path, &options);
  call_with_zeros(module);
  char* json = NULL;
  need(vitrine_module_profile_json(module, &json));
  expect(strstr(json, "\"library\":\"optimized\"") != NULL, "optimized kernels are used");
  vitrine_string_free(json);
  vitrine_module_free(module);
}

/* Checks that texts are copied: the test changes them before the first call, which makes the
 * delegate. */
static void check_backend_options(const char* path, const char* folder) {
  char file[4096];
  char kept[4096];
  snprintf(kept, sizeof(kept), "%s/c_api_test.weights", folder);
  remove(kept);
  memcpy(file, kept, sizeof(file));
  vitrine_backend_option given[3];
  memset(given, 0, sizeof(given));
  given[0].backend = given[1].backend = given[2].backend = "XnnpackBackend";
  given[0].key = "workspace_sharing_mode";
  given[0].kind = VITRINE_INTEGER;
  given[0].as.integer = 0;
  given[1].key = "weight_cache_enabled";
  given[1].kind = VITRINE_BOOLEAN;
  given[1].as.boolean = 1;
  given[2].key = "packed_cache_path";
  given[2].kind = VITRINE_STRING;
  given[2].as.string = file;
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.threads = 1;
  options.backend_options = given;
  options.num_backend_options = 3;
  vitrine_module* module = load(path, &options);
  memset(file, 'x', sizeof(file) - 1);
  memset(given, 0xFF, sizeof(given));
  call_with_zeros(module);
  vitrine_module_free(module);
  FILE* written = fopen(kept, "rb");
  expect(written != NULL, "the weights are written to packed_cache_path");
  if (written != NULL) fclose(written);
  remove(kept);
}

static void check_wrong_backend_options(const char* path) {
  vitrine_module* module = NULL;
  vitrine_backend_option given[2] = {
      {"XnnpackBackend", "workspace_sharing_mode", VITRINE_INTEGER, {0}},
      {"XnnpackBackend", "packed_cache_path", VITRINE_STRING, {0}}};
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.num_backend_options = 2;
  expect_error(vitrine_module_load_file(path, &options, &module), 0x12, "backend_options is NULL");
  options.backend_options = given;
  given[1].as.string = NULL;
  expect_error(vitrine_module_load_file(path, &options, &module), 0x12,
               "backend_options[1]: the string of packed_cache_path for XnnpackBackend is NULL");
  given[1].kind = VITRINE_REAL;
  expect_error(vitrine_module_load_file(path, &options, &module), 0x12,
               "backend_options[1]: packed_cache_path for XnnpackBackend is of kind 3");
  given[1].key = NULL;
  expect_error(vitrine_module_load_file(path, &options, &module), 0x12, "[1]: key is NULL");
  given[0].backend = NULL;
  expect_error(vitrine_module_load_file(path, &options, &module), 0x12, "[0]: backend is NULL");
  options.num_backend_options = 1;
  given[0].backend = "xnnpack";
  expect_error(vitrine_module_load_file(path, &options, &module), 0x12,
               "backend_options[0]: this build has no backend xnnpack");
  expect(module == NULL, "no module is returned for invalid backend options");

  /* The backend itself rejects this value. */
  given[0].backend = "XnnpackBackend";
  given[0].as.integer = 7;
  need(vitrine_module_load_file(path, &options, &module));
  vitrine_value input = zeros(module);
  vitrine_value output;
  vitrine_error* error = vitrine_module_call(module, "forward", &input, 1, &output, 1);
  expect(strstr(vitrine_error_message(error), "XnnpackBackend") != NULL, "the backend is named");
  expect_error(error, 0x12,
               "workspace_sharing_mode must be 0 (none), 1 (per program) or 2 (global), got 7");
  vitrine_value_clear(&input);
  vitrine_module_free(module);
}

static void check_without_later_members(const char* path) {
  vitrine_options before_backends = older_options(offsetof(vitrine_options, backend_options));
  vitrine_options before_limits = older_options(offsetof(vitrine_options, max_memory_bytes));
  before_backends.portable_kernels_only = 0;
  before_limits.portable_kernels_only = 0;
  before_limits.backend_options = NULL;
  before_limits.num_backend_options = 0;
  before_limits.max_load_steps = 1; /* not sufficient, but must be ignored */
  const vitrine_options* const all[] = {&before_backends, &before_limits};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    vitrine_module* module = load(path, all[i]);
    call_with_zeros(module);
    vitrine_module_free(module);
  }
}

static void check_limits(const char* path) {
  vitrine_options memory = VITRINE_OPTIONS_INIT;
  vitrine_options steps = VITRINE_OPTIONS_INIT;
  vitrine_options instructions = VITRINE_OPTIONS_INIT;
  memory.max_memory_bytes = 10000;
  steps.max_load_steps = 10;
  instructions.max_instructions_per_run = 1;
  const struct {
    const vitrine_options* options;
    uint32_t code;
    const char* what;
  } cases[] = {{&memory, 0x21, "of the 10000 bytes that max_memory_bytes allows"},
               {&steps, 0x25, "more than 10 steps (max_load_steps)"},
               {&instructions, 0x23, "after 1 instructions (max_instructions_per_run)"}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    vitrine_module* module = load(path, cases[i].options);
    vitrine_value input = zeros(module);
    vitrine_value output;
    expect_error(vitrine_module_call(module, "forward", &input, 1, &output, 1), cases[i].code,
                 cases[i].what);
    vitrine_value_clear(&input);
    vitrine_module_free(module);
  }
}

/* Calls the sample whose method multiplies matrices as long as its input is false. */
static vitrine_error* call_loop(vitrine_module* module, uint8_t ends) {
  const int32_t size = 1;
  vitrine_value input;
  vitrine_value output;
  input.kind = VITRINE_ARRAY;
  need(vitrine_array_new(VITRINE_BOOL, &size, 1, &input.as.array));
  memcpy(vitrine_array_data(input.as.array), &ends, 1);
  vitrine_error* error = vitrine_module_call(module, "forward", &input, 1, &output, 1);
  vitrine_value_clear(&input);
  return error;
}

static void check_deadline(const char* path) {
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.max_instructions_per_run = UINT64_MAX;
  options.max_milliseconds_per_run = 500;
  vitrine_module* module = load(path, &options);
  expect_error(call_loop(module, 0), 0x25, "max_milliseconds_per_run");
  need(call_loop(module, 1));
  vitrine_module_free(module);
}

static vitrine_module* endless;

static void cancel_endless(int signal_number) {
  (void)signal_number;
  vitrine_module_cancel(endless);
  alarm(1); /* in case the call had not begun */
}

static void check_cancel(const char* path) {
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.max_instructions_per_run = UINT64_MAX;
  need(vitrine_module_load_file(path, &options, &endless));
  signal(SIGALRM, cancel_endless);
  alarm(1);
  expect_error(call_loop(endless, 0), 0x40, "canceled");
  alarm(0);
  vitrine_module_cancel(endless);
  vitrine_module_cancel(NULL);
  need(call_loop(endless, 1));
  vitrine_module_free(endless);
}

static void check_portable_kernels(const char* path) {
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.threads = 1;
  options.profile = 1;
  options.portable_kernels_only = 1;
  vitrine_module* module = load(path, &options);
  call_with_zeros(module);
  char* json = NULL;
  need(vitrine_module_profile_json(module, &json));
  expect(strstr(json, "\"library\":\"portable\"") != NULL, "portable kernels are used");
  expect(strstr(json, "\"library\":\"optimized\"") == NULL, "optimized kernels are not used");
  vitrine_string_free(json);
  vitrine_module_free(module);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  char path[4096];
  snprintf(path, sizeof(path), "%s/digits_xnnpack/model.pte", argv[1]);
  check_options(path);
  check_older_options(path);
  check_backend_options(path, argv[2]);
  check_wrong_backend_options(path);
  check_without_later_members(path);
  snprintf(path, sizeof(path), "%s/digits_portable/model.pte", argv[1]);
  check_padding(path);
  check_portable_kernels(path);
  check_limits(path);
  snprintf(path, sizeof(path), "%s/endless_loop/model.pte", argv[1]);
  check_deadline(path);
  check_cancel(path);
  return failures == 0 ? 0 : 1;
}
