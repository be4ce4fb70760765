#!/bin/sh
# The main paths under valgrind's memcheck: examples and commands on tiny data.
# Reading what was never written is what AddressSanitizer does not see. Stops at the first
# command with an error or a lost block. (Valgrind's processor has no AVX-512; the
# program asks the processor, so the kernels for AVX2 run.)
#   valgrind.sh BUILD_DIR
set -eu
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
crossbayes=$build/crossbayes
count=0

check() {
    if ! valgrind --quiet --error-exitcode=99 --leak-check=full \
        --errors-for-leak-kinds=definite "$@" >out.txt 2>err.txt; then
        echo "valgrind: $*" >&2
        cat err.txt >&2
        exit 1
    fi
    count=$((count + 1))
}

awk 'BEGIN { for (i = 0; i < 60; i++) {
        x = (i * 37 % 60) / 30 - 1; z = (i * 23 % 60) / 30 - 1
        printf "%.3f,%.3f,%.3f,%s\n", x, z, x - z * z, (x > z ? "up" : "down") } }' >rows
{ echo "x,z,y,side"; cat rows; } >all.csv
cut -d, -f1-3 all.csv >numbers.csv
cut -d, -f1,2,4 all.csv >classes.csv
"$crossbayes" sample mtj:B=0.15,w=0.5 -n 400 -o noise.npy -q

check "$crossbayes" --version
check "$crossbayes" fit noise.npy -o law.json
check "$crossbayes" fit noise.npy --family empirical -o empirical.json
check "$crossbayes" law law.json --quantile 0.1,0.5 --cdf 0 --pdf 0 --rule 8 --json
check "$crossbayes" law empirical.json
check "$crossbayes" sample empirical.json -n 100 -o z.npy
for kind in numbers:y classes:side; do
    data=${kind%:*}.csv target=${kind#*:} model=${kind%:*}.safetensors
    check "$crossbayes" train "$data" --target "$target" --net "dense 4, elu, dense $(
        [ "$target" = y ] && echo 1 || echo 2)" --epochs 2 --mle-epochs 2 -o "$model" -q
    check "$crossbayes" predict "$model" "$data" --draws 8 -o p.csv
    check "$crossbayes" eval "$model" "$data" --draws 8 --law gaussian --law law.json
done
check "$crossbayes" crossbar numbers.safetensors numbers.csv --array mtj --reads 8
check "$crossbayes" plan law.json --net "dense 4, elu, dense 1" --draws 512
for example in "$build"/examples/example_0[1-5]*; do check "$example"; done
echo "valgrind: $count commands, no errors, nothing lost"
