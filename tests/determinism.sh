#!/bin/sh
# determinism.sh PROGRAM SOURCE: the same command, the same bytes: whatever the number of
# threads, the locale, the instruction-set level (PROGRAM takes both from the environment,
# see level.c) and the compiler's optimisation. Where bytes differ for a reason (docs/reliability.md),
# numbers must agree within the tolerance told there.
#
# Quick: the main commands, threads 1 and 3 (with a decimal comma), levels v3 and v4,
# tolerance of v2.
# XB_LONG=1: every command, threads 1, 2, 3 and 8 (3 with a decimal comma), all levels, builds with -O0 and -O3,
# other kernels of the C library and of BLAS.
set -eu
export LC_ALL=C
program=$(realpath "$1") source=$(realpath "$2")
long=${XB_LONG:-0}
[ "$long" != 0 ] && [ -n "$long" ] || long=
work=$(mktemp -d /tmp/xb-determinism-XXXXXX)
trap 'rm -rf "$work"' EXIT
levels=$program

flags=$(grep -m1 '^flags' /proc/cpuinfo 2>/dev/null || true)
case $flags in
*avx512vl*) best=4 ;;
*avx2*) best=3 ;;
*) best=1 ;;
esac
if [ "$best" -lt 3 ]; then
    echo "skipped: the machine has no level with fused multiply-add"
    exit 77
fi

complain() {
    echo "determinism: $*" | tee -a "$work/failures" >&2
}

# ---- data: tables by formulas, images from the bytes of draws

make_data() {
    awk 'BEGIN { print "a,b,y"; for (i = 0; i < 60; i++) { a = sin(i); b = cos(3 * i);
        printf "%.12f,%.12f,%.12f\n", a, b, sin(3 * a) + 0.3 * b + 0.1 * sin(77 * i) } }' \
        > numbers.csv
    awk 'BEGIN { print "a,b,y"; for (i = 0; i < 60; i++) { a = sin(i); b = cos(3 * i);
        printf "%.12f,%.12f,%s\n", a, b, (a + b > 0.2) ? "up" : (a > b) ? "on" : "down" } }' \
        > classes.csv
    "$program" sample mtj -n 2000 -o noise.csv -q
    "$program" sample gaussian -n 20000 -o bytes.npy -q
    { printf '\0\0\10\3\0\0\0\50\0\0\0\20\0\0\0\20'; head -c 10240 bytes.npy; } \
        > few-images-idx3-ubyte
    { printf '\0\0\10\1\0\0\0\50'; for i in 1 2 3 4 5 6 7 8; do printf '\0\1\2\1\0'; done; } \
        > few-labels-idx1-ubyte
}

# ---- commands: each leaves its files and its text in the folder

xb() {
    name=$1
    shift
    "$program" "$@" --threads "$threads" > "$name.txt" 2> "$name.err" || {
        complain "$name: exit $? ($PWD): $(cat "$name.err")"
    }
    # nets are written, and listed, in the order in which threads finish them
    sed 's/--threads [0-9]/--threads N/g' "$name.err" | tr -s ' ,\n' '\n' | LC_ALL=C sort > "$name.words"
    mv "$name.words" "$name.err"
}

main_commands() {
    xb fit fit ../noise.csv -o law.json
    xb sample sample mtj -n 30000 -o z.npy
    xb train train ../numbers.csv --target y --law mtj -o m.safetensors \
        --net 'dense 20, elu, dense 9, tanh, dense 1' --mle-epochs 8 --epochs 8 --batch 13
    xb local train ../classes.csv --target y -o c.safetensors \
        --net 'dense 17, relu, dense 3' --mle-epochs 5 --epochs 5
    # widths that vectors of one level hold whole and those of another do not
    xb wide train ../numbers.csv --target y --law mtj -o w.safetensors --batch 20 \
        --net 'dense 8, elu, dense 8, elu, dense 16, elu, dense 16, elu, dense 24, elu, dense 1' \
        --mle-epochs 2 --epochs 2
    xb predict predict m.safetensors ../numbers.csv --draws 64 -o p.csv
    xb eval eval m.safetensors ../numbers.csv --draws 64 --law gaussian --law mtj --json
    xb plan plan mtj --model m.safetensors --data ../numbers.csv --rows 1 --draws 256
    xb crossbar crossbar m.safetensors ../numbers.csv --reads 32 --json
    xb design design m.safetensors ../numbers.csv --over adc_bits=5:9 --over draws=5,20 \
        --chips 6 --keep 'nll<=+100000%' --json
}

more_commands() {
    xb law law ecram --rule 16 --quantile 1e-9,0.3 --cdf 0.2 --pdf 0.1 --json
    xb sample8 sample bimodal -n 30000 --dtype f8 -o z8.npy
    for e in shared example flipout; do
        xb $e train ../numbers.csv --target y --law mtj -o $e.safetensors --estimator $e \
            --net 'dense 24, sigmoid, dense 1' --mle-epochs 4 --epochs 4 --batch 20
    done
    xb noisy train ../numbers.csv --target y -o n.safetensors --net 'dense 12, elu, dense 1' \
        --likelihood heteroscedastic --mle-epochs 4 --epochs 4 --random all --draws 2
    xb prior train ../numbers.csv --target y -o q.safetensors --net 'dense 12, elu, dense 1' \
        --law mtj --prior mixture:pi=0.5,s1=1,s2=0.05 --mle-epochs 3 --epochs 3
    xb cpredict predict c.safetensors ../classes.csv --draws 64 -o cp.csv
    xb ceval eval c.safetensors ../classes.csv --draws 64 --law gaussian --law mtj
    for s in scalar quantile quadrature laws; do xb $s study $s --quick -o $s; done
    xb energy study energy --quick --widths 2,4 --depths 1,2 -o energy
    xb array study array --quick -o array
}

# Layers that run as one exist on level 4 only: bytes for any number of threads.
image_commands() {
    xb images train ../few-images-idx3-ubyte -o i.safetensors --mle-epochs 2 --epochs 2 \
        --net 'conv 16, relu, maxpool 2, batchnorm, conv 16, relu, maxpool 2, flatten, dense 3'
    xb ipredict predict i.safetensors ../few-images-idx3-ubyte --draws 16 -o ip.csv
    xb demo demo -o demo # has images
}

# run FOLDER LEVEL THREADS WHAT...: then the words that tell runs apart are taken out, the
# number of threads and the folder that the demo names.
run() {
    folder=$work/$1
    export XB_LEVEL="$2"
    threads=$3
    shift 3
    mkdir -p "$folder"
    (cd "$folder" && for what in "$@"; do $what; done) || complain "$folder"
    find "$folder" -type f \
        -exec sed -i "s/--threads [0-9]/--threads N/g; s|$folder|FOLDER|g" {} +
    find "$folder" -name '*.err' -size 0 -delete
}

# The same where numbers have a comma, which C programs call locale de_DE.
run_comma() {
    localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" || complain "no locale with a comma"
    export LOCPATH="$work" LC_ALL=de_DE.UTF-8
    run "$@"
    export LC_ALL=C
    unset LOCPATH
    rm -rf "$work/de_DE.UTF-8"
}

same() {
    diff -rq "$work/$1" "$work/$2" > "$work/difference" || {
        complain "$1 and $2 differ:"
        cat "$work/difference" >&2
    }
}

# within A B COLUMN TOLERANCE: tables of numbers, cell by cell, in units of the cell in
# COLUMN (0: of 1).
within() {
    paste -d, "$work/$1" "$work/$2" | awk -F, -v unit="$3" -v most="$4" -v what="$1, $2" '
        NR > 1 { n = NF / 2; for (i = 1; i <= n; i++) { d = $i - $(i + n);
            if (d < 0) d = -d; d /= unit ? $unit : 1; if (!(d <= worst)) worst = d; seen++ } }
        END { printf "%s: apart by %.2g, at most %g\n", what, worst, most;
              exit !(seen > 0 && worst <= most) }' || complain "$1 and $2: too far apart"
}

# close_numbers A B TOLERANCE: texts that differ in their numbers alone, by at most
# TOLERANCE times the larger.
close_numbers() {
    tr -s ' ,\n' '\n' < "$1" > a.words
    tr -s ' ,\n' '\n' < "$2" > b.words
    paste a.words b.words | awk -v most="$3" -v what="$1, $2" '
        $1 == $2 { next }
        { d = $1 - $2; if (d < 0) d = -d; s = $1 < 0 ? -$1 : $1
          if ($1 !~ /^-?[0-9]/ || $2 !~ /^-?[0-9]/ || !(d <= most * s)) bad = $1 " and " $2
          seen++ }
        END { printf "%s: %d numbers differ, each by at most %g of itself\n", what, seen, most
              if (bad) { print bad; exit 1 } }' || complain "$1 and $2: too far apart"
}

# ---- comparisons

cd "$work"
make_data
if [ -z "$long" ]; then
    run base $best 1 main_commands
    run_comma threads3 $best 3 main_commands
    same base threads3
    [ $best -lt 4 ] || { run level3 3 2 main_commands && same base level3; }
else
    run base $best 1 main_commands more_commands
    for t in 2 8; do
        run threads$t $best $t main_commands more_commands
        same base threads$t
    done
    run_comma threads3 $best 3 main_commands more_commands
    same base threads3
    [ $best -lt 4 ] || { run level3 3 2 main_commands more_commands && same base level3; }
    run images $best 1 image_commands
    run_comma images3 $best 3 image_commands
    same images images3
fi

# Levels without fused multiply-add, and layers that run as one: the same model, numbers
# within the tolerance.
for level in 2 1; do
    [ $level = 2 ] || [ -n "$long" ] || continue
    mkdir -p level$level
    XB_LEVEL=$level "$program" predict base/m.safetensors numbers.csv --draws 64 \
        -o level$level/p.csv -q
    within base/p.csv level$level/p.csv 2 1e-5
    XB_LEVEL=$level "$program" sample mtj -n 30000 -o level$level/z.csv -q
    XB_LEVEL=$best "$program" sample mtj -n 30000 -o level$level/best.csv -q
    within level$level/z.csv level$level/best.csv 0 5e-7
done
if [ -n "$long" ]; then
    mkdir -p images_level3
    XB_LEVEL=3 "$program" predict images/i.safetensors few-images-idx3-ubyte --draws 16 \
        -o images_level3/ip.csv -q 2> /dev/null
    cut -d, -f2- images/ip.csv > images_level3/a.csv # the class is a word
    cut -d, -f2- images_level3/ip.csv > images_level3/b.csv
    within images_level3/a.csv images_level3/b.csv 0 1e-6
fi

# ---- other builds: -O0 throughout, -O3 throughout
if [ -n "$long" ]; then
    for o in 0 3; do
        built=$PWD/build$o
        cmake -G Ninja -S "$source" -B "$built" -DCMAKE_BUILD_TYPE=Debug \
            -DCMAKE_C_FLAGS=-O$o -DXB_KERNEL_LEVEL=-O$o > build$o.log 2>&1
        ninja -C "$built" crossbayes_levels >> build$o.log 2>&1 || complain "no build at -O$o"
        program=$built/tests/crossbayes_levels
        run optimised$o $best 2 main_commands more_commands
        same base optimised$o
        run images_o$o $best 2 image_commands
        same images images_o$o
        program=$levels
    done
    # what the C library chooses by the machine reaches fits, and the last digits of scores
    # in crossbar and design
    for way in GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA; do
        export "${way?}"
        run other $best 2 main_commands
        unset GLIBC_TUNABLES
        rm -f other/fit.txt other/law.json
        for name in crossbar design; do
            close_numbers base/$name.txt other/$name.txt 1e-10
            rm -f other/$name.txt
        done
        for file in other/*; do
            cmp "base/${file#other/}" "$file" || complain "$way: $file differs"
        done
        rm -rf other
    done
fi

[ ! -s "$work/failures" ] || exit 1
echo "determinism: the same bytes"
