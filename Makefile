# A thin face over the CMake presets (CMakePresets.json).
#   make         build       make demo    lower and profile MobileNetV2
#   make test    all tests   make bench   benchmarks      make lint   make clean
# PRESET=debug|asan|ubsan|sanitize|tsan|fuzz|aarch64 chooses another build; VITRINE_CORPUS the corpus of real programs.

PRESET ?= release
BUILD  := build/$(PRESET)

.PHONY: build setup configure demo test bench lint clean

build: configure
	cmake --build --preset $(PRESET)

# Installs Debian packages, only those that are missing.
setup:
	@cmake/setup.sh $(PRESET)

configure: setup
	@cmake --preset $(PRESET)

demo: build
	$(BUILD)/bin/vitrine_example_lower_a_model mobilenet_v2 $(BUILD)/mobilenet_v2.pte
	$(BUILD)/bin/executor_runner --profile $(BUILD)/mobilenet_v2.pte

test: build
	ctest --preset $(PRESET) --parallel $$(nproc)

bench: build
	$(BUILD)/bin/executor_bench
	$(BUILD)/bin/xnnpack_bench
	$(BUILD)/bin/lower_bench

# Of the build that compiles each file by itself.
lint: PRESET = debug
lint: configure
	clang-format --dry-run --Werror $$(git ls-files '*.h' '*.cc')
	run-clang-tidy -quiet -p build/$(PRESET) '^$(CURDIR)/(runtime|kernels|backends|aot|base|formats|inspector|host|tools|examples)/'

clean:
	rm -rf build
