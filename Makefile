# crossbayes. `make demo` and `make check` do everything on a fresh Debian:
# install what is missing, build, run.
BUILD ?= build
PREFIX ?= /usr/local
CMAKE = cmake -G Ninja -S .
# A test that skips a part of itself says so; nothing is skipped in silence.
SAY_SKIPPED = grep -h "skipped: "

.PHONY: all deps demo check check-long fuzz races memory bench install clean format lint

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

deps:
	./tools/install-deps.sh

$(BUILD)/build.ninja: | deps
	$(CMAKE) -B $(BUILD) -DXB_TESTS=OFF

demo: all
	$(BUILD)/crossbayes demo -o $(BUILD)/demo

# Optimised, then the same tests under AddressSanitizer and UBSan.
check: deps
	$(CMAKE) -B $(BUILD)/check -DXB_WERROR=ON
	ninja -C $(BUILD)/check
	cd $(BUILD)/check && ctest --output-on-failure -j2
	@$(SAY_SKIPPED) $(BUILD)/check/Testing/Temporary/LastTest.log || true
	$(CMAKE) -B $(BUILD)/sanitize -DXB_WERROR=ON -DXB_SANITIZE=ON
	ninja -C $(BUILD)/sanitize
	cd $(BUILD)/sanitize && ctest --output-on-failure -j2
	@$(SAY_SKIPPED) $(BUILD)/sanitize/Testing/Temporary/LastTest.log || true

check-long: check
	cd $(BUILD)/check && XB_LONG=1 ctest --output-on-failure -j2 --timeout 3600
	$(MAKE) races memory
	$(MAKE) fuzz FUZZ_SECONDS=60

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

# Beside the peers, on one core; QUICK=1 for fewer, shorter repeats.
bench: deps
	./tools/install-deps.sh bench
	$(CMAKE) -B $(BUILD)/bench -DXB_BENCH=ON -DXB_TESTS=OFF
	ninja -C $(BUILD)/bench
	./bench/run.sh $(BUILD)/bench $(if $(QUICK),--quick)

install: all
	cmake --install $(BUILD) --prefix $(PREFIX)

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

# clang-tidy's checks are in .clang-tidy, cppcheck's in tests/lint.sh.
lint: deps
	./tools/install-deps.sh lint
	$(CMAKE) -B $(BUILD)/check
	./tests/lint.sh $(BUILD)/check

clean:
	rm -rf $(BUILD)
