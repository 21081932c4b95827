#include "test/api/c_api_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int failures = 0;

void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

void need(vitrine_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "error 0x%x: %s\n", (unsigned)vitrine_error_code(error),
          vitrine_error_message(error));
  exit(1);
}

void expect_error(vitrine_error* error, uint32_t code, const char* text) {
  if (error == NULL) {
    expect(0, text);
    return;
  }
  if (vitrine_error_code(error) != code || strstr(vitrine_error_message(error), text) == NULL) {
    fprintf(stderr, "expected 0x%x ...%s..., got 0x%x %s\n", (unsigned)code, text,
            (unsigned)vitrine_error_code(error), vitrine_error_message(error));
    ++failures;
  }
  vitrine_error_free(error);
}

vitrine_module* load(const char* path, const vitrine_options* options) {
  vitrine_module* module = NULL;
  need(vitrine_module_load_file(path, options, &module));
  return module;
}

vitrine_value zeros(vitrine_module* module) {
  vitrine_info in;
  vitrine_value input;
  need(vitrine_method_input(module, "forward", 0, &in));
  input.kind = VITRINE_ARRAY;
  need(vitrine_array_new(in.dtype, in.sizes, in.rank, &input.as.array));
  return input;
}

void call_with_zeros(vitrine_module* module) {
  vitrine_value input = zeros(module);
  vitrine_value output;
  need(vitrine_module_call(module, "forward", &input, 1, &output, 1));
  vitrine_value_clear(&output);
  vitrine_value_clear(&input);
}
