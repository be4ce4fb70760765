#!/bin/sh
# Runs every benchmark, ours beside its peers, on one core, and prints one table.
#   run.sh BUILD [--quick]
# The Python peers are installed from PyPI into BUILD/peers (XB_BENCH_VENV names
# another virtual environment to use instead). What cannot be had is reported in
# the table as missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
quick=${2-}
venv=${XB_BENCH_VENV:-$build/peers}
data=${CROSSBAYES_DATA:-$here/../../shared/data}

# ---- the peers
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || true
python=$venv/bin/python
[ -x "$python" ] || python=python3
for package in numpy scipy pandas chaospy torch jax; do
    "$python" -c "import $package" 2>/dev/null && continue
    [ "$venv" = "$build/peers" ] || continue
    echo "installing $package into $venv" >&2
    "$python" -m pip install --quiet --disable-pip-version-check "$package" >&2 || true
done

# ---- one thread, one core: the last one we may use
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
core=$(($(nproc) - 1))
pin=
taskset -c "$core" true 2>/dev/null && pin="taskset -c $core"

records=$build/bench_records.jsonl
: >"$records"
bench() { # script [peer]
    echo "$*" >&2
    status=0
    # shellcheck disable=SC2086
    $pin "$python" "$here/$1" "$build" ${2-} $quick --data "$data" >>"$records" || status=$?
    [ "$status" = 0 ] || printf '{"workload": "%s", "case": "%s", "missing": "%s"}\n' \
        "failed" "$*" "ended with status $status" >>"$records"
}

bench bench_draw.py self
bench bench_draw.py torch
bench bench_draw.py numpy
bench bench_draw.py gsl
bench bench_draw.py unuran
bench bench_fit.py
bench bench_rule.py numpy
bench bench_rule.py chaospy
bench bench_csv.py numpy
bench bench_csv.py pandas
bench bench_vi.py torch
bench bench_vi.py jax
bench bench_vi.py predict
bench bench_energy.py
bench bench_crossbar.py
bench bench_conv.py torch
bench bench_conv.py torch-wide

"$python" "$here/table.py" "$build" "make bench${quick:+ QUICK=1}" <"$records"
