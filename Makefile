# Shortcuts for the CMake presets (CMakePresets.json).
#   make         tools, libraries and examples       make demo    lowers and profiles MobileNetV2
#   make demo-llm  runs a small language model and profiles its tokens
#   make test    all tests   make bench   benchmarks (docs/benchmarks.md; BENCH=--short or --check)      make lint   make clean
#   make check T=aot_passes_test F='Einsum*'   builds one test program and runs it, in the dev preset
#   make coverage   measures the lines that tests reach in each room, against the limits in test/coverage
#   make packages   tests the installed package, the Python module and the fleet report
#   make sizes   tests the sizes of the core and of selected kernels
# PRESET=dev|debug|asan|ubsan|sanitize|tsan|fuzz|aarch64|aarch64-kleidiai|armv7|riscv64 chooses another build; VITRINE_CORPUS the corpus of real
# programs; PIN=debian|upstream|auto the XNNPACK.

PRESET ?= release
BUILD   = build/$(PRESET)
# CTEST_OPTIONS are passed to ctest.
# VITRINE_STRICT=ON, here or in the environment, makes warnings errors in `release`, too.
# PIN is VITRINE_XNNPACK_PIN. Without it, a build folder keeps its pin.
CONFIGURE = cmake --preset $(PRESET) $(if $(PIN),-DVITRINE_XNNPACK_PIN=$(PIN)) $(if $(VITRINE_STRICT),-DVITRINE_STRICT=$(VITRINE_STRICT))

.PHONY: build all setup configure demo demo-llm test check coverage packages sizes bench ratchet format lint clean

# Builds what is installed and the examples.
build: configure
	cmake --build --preset $(PRESET) --target products

all: configure
	cmake --build --preset $(PRESET)

# Installs missing Debian packages.
setup:
	@cmake/setup.sh $(PRESET)

configure: setup
	@$(CONFIGURE)

demo: configure
	cmake --build --preset $(PRESET) --target vitrine_example_lower_a_model executor_runner pte_inspect
	$(BUILD)/bin/vitrine_example_lower_a_model mobilenet_v2 $(BUILD)/mobilenet_v2.pte
	$(BUILD)/bin/executor_runner --profile --etdump_path $(BUILD)/mobilenet_v2.etdp $(BUILD)/mobilenet_v2.pte
	@if $(BUILD)/bin/pte_inspect $(BUILD)/mobilenet_v2.pte --trace $(BUILD)/mobilenet_v2.etdp \
	  --output $(BUILD)/mobilenet_v2.html; then \
	  echo "The graph, colored by time, is in $(abspath $(BUILD))/mobilenet_v2.html: open it in a browser."; fi

demo-llm: configure
	cmake --build --preset $(PRESET) --target llm_runner
	$(BUILD)/bin/llm_runner --model_path test/samples/kjv_8da4w/model.pte \
	  --tokenizer_path test/samples/kjv_8da4w/tokenizer.model \
	  --prompt "In the beginning" --seed 3 --ignore_eos --max_new_tokens 200 --warmup --profile

test: all
	@ctest --preset $(PRESET) --parallel $$(nproc) $(CTEST_OPTIONS); status=$$?; \
	  python3 test/corpus/count_skipped.py $(BUILD)/Testing/Temporary/LastTest.log; exit $$status

T ?= runtime_test
F ?= *
check: PRESET = dev
check: configure
	cmake --build --preset dev --target $(T)
	build/dev/bin/$(T) --gtest_brief=1 --gtest_filter='$(F)'

coverage: PRESET = coverage
coverage: all
	find $(BUILD) -name '*.gcda' -delete
	ctest --preset $(PRESET) --parallel $$(nproc) $(CTEST_OPTIONS)
	test/coverage/report.sh $(BUILD)

packages:
	@cmake/setup.sh $(PRESET) python
	$(CONFIGURE) -DVITRINE_BUILD_PACKAGE_TESTS=ON -DVITRINE_BUILD_PYTHON=ON
	cmake --build --preset $(PRESET)
	ctest --preset $(PRESET) --parallel $$(nproc) $(CTEST_OPTIONS) --tests-regex '^package_|^python_|^fleet_test'

sizes: configure
	$(CONFIGURE) -DVITRINE_BUILD_SIZE_CHECKS=ON
	cmake --build --preset $(PRESET) --target size_programs selective_build_test vitrine_run executor_runner
	ctest --preset $(PRESET) --tests-regex '^size_ratchet|^selection|^Selective'
	cmake --preset small $(if $(PIN),-DVITRINE_XNNPACK_PIN=$(PIN))
	cmake --build --preset small --target vitrine_run
	for preset in release small; do \
	  cmake -Droot=. -Dpreset=$$preset -Dlimits=bench/size/programs.txt -P bench/size/measure_programs.cmake || exit 1; \
	done

bench: configure
	cmake --build --preset $(PRESET) --target bench
	$$(sed -n 's/^CMAKE_CROSSCOMPILING_EMULATOR:[A-Z]*=//p' $(BUILD)/CMakeCache.txt) \
	  $(BUILD)/bin/bench --out $(BUILD)/bench.json $(BENCH)
	python3 bench/page.py $(BUILD)/bench.json

# Fails if the runtime chooses a kernel that is clearly slower than another kernel. bench/slow_choices.txt lists
# exceptions.
ratchet: configure
	cmake --build --preset $(PRESET) --target bench
	$(BUILD)/bin/bench --short --section operators --threads 1 --out $(BUILD)/ratchet.json
	python3 bench/ratchet.py --known bench/slow_choices.txt --bench $(BUILD)/bin/bench $(BUILD)/ratchet.json

format:
	@cmake/setup.sh lint
	clang-format --dry-run --Werror $$(git ls-files '*.h' '*.cc')

# SINCE=<commit> checks only files that changed after that commit, latest first; MOST=<n> checks at most n files.
# clang-tidy reads the preset that compiles each file separately, and skips files that this preset leaves out. It does
# not know the options and warnings that only GCC has.
lint: PRESET = debug
lint: format configure
	cmake --build --preset debug --target vitrine_schema_headers
	files=$$({ $(if $(SINCE),$(CHANGED),git ls-files -- $(LINTED)); } | awk '!seen[$$0]++ && !system("grep -qF /" $$0 " $(BUILD)/compile_commands.json")' $(if $(MOST),| head -n $(MOST))); \
	  echo "clang-tidy: $$(echo $$files | wc -w) files"; [ -z "$$files" ] || echo $$files | xargs -n 1 -P $$(nproc) \
	  clang-tidy -quiet -p build/debug --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument

LINTED := $(foreach room,runtime kernels operators backends aot base formats inspector tokenizers llm api tools examples,'$(room)/*.cc')
CHANGED = git diff --name-only HEAD -- $(LINTED); git log --format= --name-only $(SINCE).. -- $(LINTED)

clean:
	rm -rf build
