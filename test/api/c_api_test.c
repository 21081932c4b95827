/* Tests the C API from C. Usage: c_api_test SAMPLES_FOLDER */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/api/c_api_checks.h"

/* Reads a file, which must have exactly `nbytes` bytes; otherwise ends the program. */
static void* read_bytes(const char* folder, const char* name, size_t nbytes) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* file = fopen(path, "rb");
  void* bytes = malloc(nbytes + 1);
  if (file == NULL || bytes == NULL || fread(bytes, 1, nbytes + 1, file) != nbytes) {
    fprintf(stderr, "%s: does not have %lu bytes\n", path, (unsigned long)nbytes);
    exit(1);
  }
  fclose(file);
  return bytes;
}

static void* read_file(const char* folder, const char* name, size_t* nbytes) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(1);
  *nbytes = (size_t)ftell(file);
  fclose(file);
  return read_bytes(folder, name, *nbytes);
}

static void check_outputs(vitrine_module* module, const char* folder, const char* sample) {
  size_t num_inputs = 0;
  size_t num_outputs = 0;
  need(vitrine_method_counts(module, "forward", &num_inputs, &num_outputs));
  expect(num_inputs == 1 && num_outputs == 1, "the method has one input and one output");
  vitrine_info in;
  vitrine_info out;
  need(vitrine_method_input(module, "forward", 0, &in));
  need(vitrine_method_output(module, "forward", 0, &out));
  expect(in.kind == VITRINE_ARRAY && in.dtype == VITRINE_F32, "the input has dtype f32");

  vitrine_value input = zeros(module);
  char name[256];
  snprintf(name, sizeof(name), "%s/input_0.bin", sample);
  void* bytes = read_bytes(folder, name, vitrine_array_nbytes(input.as.array));
  memcpy(vitrine_array_data(input.as.array), bytes, vitrine_array_nbytes(input.as.array));
  free(bytes);

  vitrine_value first;
  need(vitrine_module_call(module, "forward", &input, 1, &first, 1));
  expect(first.kind == VITRINE_ARRAY, "the output is an array");
  /* A second call with other numbers must not change the first output. */
  float* elements = vitrine_array_data(input.as.array);
  for (size_t i = 0; i < vitrine_array_nbytes(input.as.array) / sizeof(float); ++i) elements[i] = 0;
  vitrine_value second;
  need(vitrine_module_call(module, "forward", &input, 1, &second, 1));

  expect(vitrine_array_rank(first.as.array) == out.rank, "the output has the declared rank");
  expect(memcmp(vitrine_array_sizes(first.as.array), out.sizes, out.rank * sizeof(int32_t)) == 0,
         "the output has the declared sizes");
  const size_t nbytes = vitrine_array_nbytes(first.as.array);
  snprintf(name, sizeof(name), "%s/expected_0.bin", sample);
  float* expected = read_bytes(folder, name, nbytes);
  const float* got = vitrine_array_data(first.as.array);
  for (size_t i = 0; i < nbytes / sizeof(float); ++i) {
    expect(fabsf(got[i] - expected[i]) <= 1e-4f + 1e-4f * fabsf(expected[i]),
           "the output is close to PyTorch's");
  }
  expect(memcmp(got, vitrine_array_data(second.as.array), nbytes) != 0,
         "another input has another output");
  free(expected);
  vitrine_value_clear(&first);
  vitrine_value_clear(&second);
  vitrine_array_free(input.as.array);
}

static void check_errors(vitrine_module* module) {
  vitrine_module* none = NULL;
  expect_error(vitrine_module_load_file("no_such.pte", NULL, &none), 0x20, "no_such.pte");
  expect_error(vitrine_module_load_memory("no program", 10, NULL, &none), 0x23, "");
  expect(none == NULL, "no module is returned on failure");
  expect_error(vitrine_module_load_file(NULL, NULL, &none), 0x12, "NULL");
  vitrine_value output;
  expect_error(vitrine_module_call(module, "backward", NULL, 0, &output, 1), 0x12, "backward");
  expect_error(vitrine_module_call(module, "forward", NULL, 0, &output, 1), 0x12, "inputs");
  expect_error(vitrine_module_call(module, "forward", NULL, 0, NULL, 0), 0x12, "outputs");
  vitrine_info info;
  expect_error(vitrine_method_input(module, "forward", 7, &info), 0x12,
               "input index 7 is out of range; the method has 1");
  vitrine_array* array = NULL;
  const int32_t sizes[] = {2, -3};
  expect_error(vitrine_array_new(VITRINE_F32, sizes, 2, &array), 0x12, "-3");
  expect_error(vitrine_array_new(99, sizes, 1, &array), 0x12, "99");
  /* The low byte of this number is VITRINE_F32. */
  expect_error(vitrine_array_new(256 + VITRINE_F32, sizes, 1, &array), 0x12, "262");
  float memory[3] = {0, 0, 0};
  expect_error(vitrine_array_borrow(VITRINE_F32, sizes, 1, memory, sizeof(memory), &array), 0x12,
               "12");
  expect(array == NULL, "no array is returned on failure");
}

/* Returns the number after the next `"field":` and moves `*text` behind it; -1 if there is none. */
static long long next_number(const char** text, const char* field) {
  char quoted[64];
  snprintf(quoted, sizeof(quoted), "\"%s\":", field);
  const char* found = strstr(*text, quoted);
  if (found == NULL) return -1;
  char* end = NULL;
  const long long number = strtoll(found + strlen(quoted), &end, 10);
  *text = end;
  return number;
}

/* Checks that the numbers of a profile are consistent. The C++ tests compare each of them. */
static void check_profile(const char* path, const char* where) {
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.threads = 1;
  options.profile = 1;
  vitrine_module* module = load(path, &options);
  call_with_zeros(module);
  call_with_zeros(module);
  char* json = NULL;
  need(vitrine_module_profile_json(module, &json));
  expect(strstr(json, "\"method\":\"forward\"") != NULL, "the profile contains the method");
  expect(strstr(json, where) != NULL, where);

  const char* at = json;
  expect(next_number(&at, "load_ns") > 0, "loading took time");
  expect(next_number(&at, "calls") == 2, "the method has two calls");
  const long long method_ns = next_number(&at, "total_ns");
  long long rows = 0;
  size_t num_rows = 0;
  for (; next_number(&at, "calls") == 2; ++num_rows) {
    const long long total = next_number(&at, "total_ns");
    const long long min = next_number(&at, "min_ns");
    const long long max = next_number(&at, "max_ns");
    expect(total == min + max, "the total of a row is the sum of its two calls");
    /* The time of a delegate call includes its operators. */
    if (strstr(json, "\"operators\"") == NULL) rows += total;
  }
  expect(num_rows > 1, "the profile has several rows");
  expect(rows <= method_ns, "the rows take at most the time of the calls");
  vitrine_string_free(json);

  need(vitrine_module_profile_reset(module));
  need(vitrine_module_profile_json(module, &json));
  at = json;
  expect(next_number(&at, "calls") == 0, "the method has no calls after a reset");
  expect(next_number(&at, "calls") < 0, "the profile has no rows after a reset");
  vitrine_string_free(json);
  vitrine_module_free(module);
}

static void check_no_profile(vitrine_module* module) {
  char* json = NULL;
  expect_error(vitrine_module_profile_json(module, &json), 0x2, "vitrine_options.profile");
  expect_error(vitrine_module_profile_reset(module), 0x2, "vitrine_options.profile");
  expect_error(vitrine_module_profile_json(NULL, &json), 0x12, "NULL");
  expect(json == NULL, "no text is returned on failure");
}

static void check_null(void) {
  expect(vitrine_error_code(NULL) == 0, "the code of NULL is 0");
  expect(strcmp(vitrine_error_message(NULL), "") == 0, "the message of NULL is empty");
  vitrine_error_free(NULL);
  expect(vitrine_array_dtype(NULL) == 0, "the dtype of NULL is 0");
  expect(vitrine_array_rank(NULL) == 0, "the rank of NULL is 0");
  expect(vitrine_array_sizes(NULL) == NULL, "NULL has no sizes");
  expect(vitrine_array_nbytes(NULL) == 0, "NULL has 0 bytes");
  expect(vitrine_array_data(NULL) == NULL, "NULL has no data");
  vitrine_array_free(NULL);
  vitrine_value_clear(NULL);
  expect(vitrine_module_num_methods(NULL) == 0, "NULL has no methods");
  expect(vitrine_module_method_name(NULL, 0) == NULL, "NULL has no method names");
  vitrine_module_free(NULL);
  vitrine_string_free(NULL);
}

/* If an output could be the same vitrine_value as an input, the input's array would be lost. */
static void check_in_place(vitrine_module* module) {
  vitrine_value values[2];
  values[0] = zeros(module);
  vitrine_array* const mine = values[0].as.array;
  expect_error(vitrine_module_call(module, "forward", values, 1, values, 1), 0x12,
               "the same vitrine_value");
  expect(values[0].kind == VITRINE_ARRAY && values[0].as.array == mine, "the input is unchanged");
  need(vitrine_module_call(module, "forward", values, 1, values + 1, 1));
  vitrine_value_clear(&values[0]);
  vitrine_value_clear(&values[1]);
}

/* The second input of this language model is the keyword argument "input_pos". */
static void check_names(const char* folder) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/kjv_8da4w/model.pte", folder);
  vitrine_module* module = load(path, NULL);
  vitrine_info info;
  need(vitrine_method_input(module, "forward", 0, &info));
  expect(info.name == NULL, "the first input has no name");
  need(vitrine_method_input(module, "forward", 1, &info));
  expect(info.name != NULL && strcmp(info.name, "input_pos") == 0, "the second input has a name");
  need(vitrine_method_output(module, "forward", 0, &info));
  expect(info.name == NULL, "the output has no name");
  vitrine_module_free(module);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  expect(vitrine_version_number() > 0 && strchr(vitrine_version(), '.') != NULL,
         "the library has a version");
  char path[4096];
  snprintf(path, sizeof(path), "%s/digits_xnnpack/model.pte", argv[1]);
  vitrine_module* module = NULL;
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.threads = 1;
  need(vitrine_module_load_file(path, &options, &module));
  expect(vitrine_module_num_methods(module) == 1, "the program has one method");
  expect(strcmp(vitrine_module_method_name(module, 0), "forward") == 0,
         "the method is named forward");
  expect(vitrine_module_method_name(module, 1) == NULL, "there is no second method");
  check_outputs(module, argv[1], "digits_xnnpack");
  check_errors(module);
  check_no_profile(module);
  check_in_place(module);
  vitrine_module_free(module);
  check_null();
  check_names(argv[1]);
  check_profile(path, "\"delegate\":\"XnnpackBackend\"");

  size_t nbytes = 0;
  void* program = read_file(argv[1], "digits_portable/model.pte", &nbytes);
  need(vitrine_module_load_memory(program, nbytes, NULL, &module));
  check_outputs(module, argv[1], "digits_portable");
  vitrine_module_free(module);
  free(program);
  snprintf(path, sizeof(path), "%s/digits_portable/model.pte", argv[1]);
  check_profile(path, "\"where\":\"kernel\"");
  return failures == 0 ? 0 : 1;
}
