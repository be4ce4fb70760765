# crossbayes. `make demo` and `make check` do everything on a fresh Debian:
# install what is missing, build, run.
BUILD ?= build
PREFIX ?= /usr/local
CMAKE = cmake -G Ninja -S .
# A test that skips a part of itself says so; nothing is skipped in silence.
SAY_SKIPPED = grep -h "skipped: "
# A test of `make check` that takes longer hangs; a busy machine may need more.
TEST_SECONDS ?= 300

.PHONY: all deps demo check check-long check-exhaustive check-nightly \
	check-clang check-aarch64 check-cross fuzz races memory mutate bench scaling guard abi \
	install clean format lint cuda cuda-compiles check-cuda bench-cuda \
	python wheels check-python sanitize-python check-peers bench-python api

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

deps:
	./tools/install-deps.sh

$(BUILD)/build.ninja: | deps
	$(CMAKE) -B $(BUILD) -DXB_TESTS=OFF

demo: all
	$(BUILD)/crossbayes demo -o $(BUILD)/demo

# All tests optimised; then those of memory, files and the program under AddressSanitizer and
# UBSan. clang compiles the product as well, without its optimiser: the core in package_core,
# the rest at the end. check-long runs the other tests sanitised, and all of them as clang
# optimises them in check-nightly. Three tests at once keep two cores busy: some wait for others.
CLANG = CC=clang $(CMAKE) -DXB_WERROR=ON
# Where tests/package_core.sh has compiled the core with clang.
CLANG_CORE = $(BUILD)/check/tests/core/build
check: deps
	$(CMAKE) -B $(BUILD)/check -DXB_WERROR=ON
	ninja -C $(BUILD)/check
	cd $(BUILD)/check && ctest --output-on-failure -j3 --timeout $(TEST_SECONDS)
	@$(SAY_SKIPPED) $(BUILD)/check/Testing/Temporary/LastTest.log || true
	$(CMAKE) -B $(BUILD)/sanitize -DXB_WERROR=ON -DXB_SANITIZE=ON
	ninja -C $(BUILD)/sanitize
	cd $(BUILD)/sanitize && ctest --output-on-failure -j3 --timeout $(TEST_SECONDS) -LE slow
	@$(SAY_SKIPPED) $(BUILD)/sanitize/Testing/Temporary/LastTest.log || true
	$(CLANG) -B $(CLANG_CORE) -DXB_STUDIES=ON -DXB_JPEG=ON
	ninja -C $(CLANG_CORE)

# And the long forms of the tests that have one, the tests of numbers sanitised, the memory
# checker, the count of instructions, and the GPU module where nvcc is.
check-long: check
	./tools/install-deps.sh long
	cd $(BUILD)/check && XB_LONG=1 ctest --output-on-failure -j2 --timeout 3600 -L long
	@$(SAY_SKIPPED) $(BUILD)/check/Testing/Temporary/LastTest.log || true
	ninja -C $(BUILD)/sanitize slow_tests
	cd $(BUILD)/sanitize && ctest --output-on-failure -j2 --timeout 3600 -L slow
	cd $(BUILD)/sanitize && XB_LONG=1 ctest --output-on-failure -R fault_faults
	$(MAKE) memory guard cuda-compiles

# The forms of tests that take hours: every single fault, also under the sanitizers, hundreds
# of kills, all of dieharder, 1e9 draws of each law, the tables of docs/measured-noise.md, and
# the tests of the core built alone.
check-exhaustive: deps
	./tools/install-deps.sh long
	$(CMAKE) -B $(BUILD)/check -DXB_WERROR=ON
	ninja -C $(BUILD)/check
	cd $(BUILD)/check && XB_LONG=2 ctest --output-on-failure -j2 --timeout 7200 -L exhaustive
	$(CMAKE) -B $(BUILD)/sanitize -DXB_WERROR=ON -DXB_SANITIZE=ON
	ninja -C $(BUILD)/sanitize
	cd $(BUILD)/sanitize && XB_LONG=2 ctest --output-on-failure -R fault_faults

# What takes hours, for a nightly run: all of the above, then other compilers, systems and
# analysers, races, fuzzing, and the Python package with its peers.
check-nightly: check-long
	$(MAKE) check-exhaustive check-clang lint races
	$(MAKE) check-cross check-aarch64 ALL=1
	$(MAKE) fuzz FUZZ_SECONDS=60
	$(MAKE) check-python wheels check-peers
	$(MAKE) sanitize-python FUZZ_SECONDS=60

# All tests as clang builds them.
check-clang: deps
	$(CLANG) -B $(BUILD)/clang
	ninja -C $(BUILD)/clang
	cd $(BUILD)/clang && ctest --output-on-failure -j2 --timeout $(TEST_SECONDS)

# Cross-compiled for AArch64 Linux and run by qemu-user: the bytes of draws and models beside
# this machine's, the core's tests, and clang. PART="bytes tests" does only these (the third is
# clang); ALL=1 also runs the tests that take an emulator minutes to hours.
check-aarch64: deps
	./tools/install-deps.sh aarch64
	$(CMAKE) -B $(BUILD)/check -DXB_WERROR=ON
	ninja -C $(BUILD)/check crossbayes_cli
	ALL=$(ALL) ./tools/aarch64.sh $(BUILD)/aarch64 $(BUILD)/check/crossbayes $(PART)

# The same sources for Windows and WebAssembly, tests included, and for macOS, compiled. ALL=1
# also runs the tests that take Node more than about ten seconds.
check-cross: deps
	./tools/install-deps.sh cross
	./tools/cross.sh windows test
	ALL=$(ALL) ./tools/cross.sh wasm test
	./tools/cross.sh macos

# The module for NVIDIA GPUs, beside the program; needs nvcc, and no GPU.
NVCC = $(or $(shell command -v nvcc),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA_BUILD = CUDACXX=$(NVCC) $(CMAKE) -DXB_CUDA=ON
cuda: deps
	$(if $(NVCC),,@echo "nvcc was not found" >&2; exit 1)
	$(CUDA_BUILD) -B $(BUILD) -DXB_TESTS=OFF
	ninja -C $(BUILD) crossbayes_cuda crossbayes_cli

# Of `make check-long`, where there is nvcc: the module compiles for every GPU it is for.
cuda-compiles:
	$(if $(NVCC),$(CUDA_BUILD) -B $(BUILD)/cuda -DXB_TESTS=OFF && \
		ninja -C $(BUILD)/cuda crossbayes_cuda,@echo "skipped: no nvcc to compile the GPU module with")

# Its tests on this machine's GPU: every word of five laws, and the suites of nets.
check-cuda: deps
	$(CUDA_BUILD) -B $(BUILD)/cuda -DXB_TESTS=ON
	ninja -C $(BUILD)/cuda
	cd $(BUILD)/cuda && XB_LONG=1 ctest --output-on-failure -R '_gpu$$'

# Its rates beside those of PyTorch and JAX, which python3 must have.
bench-cuda: deps
	$(CUDA_BUILD) -B $(BUILD)/cuda
	ninja -C $(BUILD)/cuda cuda_rates cuda_steps crossbayes_cuda
	CROSSBAYES_CUDA=$(BUILD)/cuda/libcrossbayes-cuda.so python3 bench/bench_cuda.py \
		$(BUILD)/cuda/cuda_rates $(BUILD)/cuda/cuda_steps | tee $(BUILD)/cuda/rates.txt

# The Python package's wheel, in build/wheel: pip install it anywhere.
python: deps
	./tools/install-deps.sh python
	./python/check.sh $(BUILD) wheel

# Wheels of it for x86-64 and AArch64 Linux, Windows and macOS, in build/wheels, each tried where it can be.
wheels: python
	./tools/install-deps.sh wheels
	./python/wheels.sh $(BUILD)

# Its tests, types, style and wheel; other Pythons too where PATH or PYTHONS has them.
check-python: python
	$(CMAKE) -B $(BUILD)/check -DXB_WERROR=ON
	ninja -C $(BUILD)/check crossbayes_cli
	./python/check.sh $(BUILD) test

# The same tests on another build, whose C code is under AddressSanitizer and UBSan; then the
# fuzzer of its calls, for FUZZ_SECONDS.
sanitize-python: deps
	./tools/install-deps.sh python
	FUZZ_SECONDS=$(FUZZ_SECONDS) ./python/check.sh $(BUILD) sanitize

# The reference of the Python package from its docstrings: build/api/index.html.
api: python
	./python/check.sh $(BUILD) api

# Models of other libraries beside what those predict; installs several GB from PyPI.
check-peers: python
	./python/check.sh $(BUILD) peers

# Its claims of speed in one table beside NumPy, PyTorch and bayesian-torch, from the same PyPI;
# DOCS=1 writes the table to docs/python.md.
bench-python: python
	DOCS=$(DOCS) ./python/check.sh $(BUILD) bench

# Each target for FUZZ_SECONDS, from its seeds; what breaks it is left in the folder.
FUZZ_SECONDS ?= 600
fuzz: deps
	./tools/install-deps.sh fuzz
	CC=clang $(CMAKE) -B $(BUILD)/fuzz -DXB_FUZZ=ON -DXB_TESTS=OFF
	ninja -C $(BUILD)/fuzz
	./tests/fuzz/run.sh $(BUILD)/fuzz $(FUZZ_SECONDS)

# All tests under ThreadSanitizer.
races: deps
	./tools/install-deps.sh fuzz
	CC=clang $(CMAKE) -B $(BUILD)/races -DXB_TSAN=ON
	ninja -C $(BUILD)/races
	./tests/tsan/run.sh $(BUILD)/races

# The main paths under valgrind.
memory: deps
	./tools/install-deps.sh memory
	$(CMAKE) -B $(BUILD)/check
	ninja -C $(BUILD)/check
	./tests/valgrind.sh $(BUILD)/check

# Breaks the product on purpose, place by place (tools/mutations.txt): does the suite
# notice? RANDOM=100 SEED=1 draws the places instead; MINUTES=10 ends it early, and the next
# run goes on. Needs the build of `make check`; sources and build stay as they are.
mutate: deps
	$(CMAKE) -B $(BUILD)/check -DXB_WERROR=ON
	ninja -C $(BUILD)/check
	$(if $(RANDOM),$(CMAKE) -B $(BUILD)/sanitize -DXB_WERROR=ON -DXB_SANITIZE=ON)
	$(if $(RANDOM),ninja -C $(BUILD)/sanitize)
	./tools/mutate.py $(BUILD)/check --out $(BUILD)/mutants.md \
		$(if $(RANDOM),--random $(RANDOM) --sanitized $(BUILD)/sanitize $(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES)),--all)

BENCH_BUILD = $(CMAKE) -B $(BUILD)/bench -DXB_BENCH=ON -DXB_TESTS=OFF && \
	ninja -C $(BUILD)/bench

# What was measured last, into docs/performance.md, if DOCS=1.
SUMMARY = $(if $(DOCS),python3 bench/summary.py $(BUILD)/bench docs/performance.md)

# Beside the peers, on one core; QUICK=1 for fewer, shorter repeats.
bench: deps
	./tools/install-deps.sh bench
	$(BENCH_BUILD)
	./bench/run.sh $(BUILD)/bench $(if $(QUICK),--quick)
	$(SUMMARY)

# How time and memory grow: figures in build/bench; FIGURES=docs/figures puts them there.
scaling: deps
	$(BENCH_BUILD) xb_scale
	python3 bench/scaling.py $(BUILD)/bench $(FIGURES) $(if $(QUICK),--quick)
	$(SUMMARY)

# Instructions of fixed kernels against bench/instructions.txt; UPDATE=1 writes them.
guard: deps
	./tools/install-deps.sh guard
	$(BENCH_BUILD) guard_kernels
	./bench/guard.py $(BUILD)/bench $(if $(UPDATE),--update)

# The shared libraries' ABI against tests/abi; UPDATE=1 describes it anew.
abi: deps
	$(CMAKE) -B $(BUILD)/check -DXB_WERROR=ON
	ninja -C $(BUILD)/check crossbayes_shared crossbayes_studies_shared
	cd $(BUILD)/check && UPDATE=$(UPDATE) ctest --output-on-failure -V -R '^package_abi$$'

install: all
	cmake --install $(BUILD) --prefix $(PREFIX)

format:
	./tools/install-deps.sh lint
	git ls-files '*.c' '*.h' | xargs clang-format -i

# clang-tidy's checks are in .clang-tidy, cppcheck's in tests/lint.sh.
lint: deps
	./tools/install-deps.sh lint
	$(CMAKE) -B $(BUILD)/check
	ninja -C $(BUILD)/check generated/xb_build.h studies/generated/xb_studies_build.h
	./tests/lint.sh $(BUILD)/check

clean:
	rm -rf $(BUILD)
