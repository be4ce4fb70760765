#!/bin/sh
# Runs every benchmark, ours beside its peers, on one core, and prints one table.
#   run.sh BUILD [--quick]
# The Python peers are installed from PyPI into BUILD/peers, TensorFlow Probability, which
# wants other versions, into BUILD/peers-tfp (XB_BENCH_VENV and XB_BENCH_TFP_VENV name
# virtual environments to use instead). What cannot be had is reported in the table as
# missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
quick=${2-}
venv=${XB_BENCH_VENV:-$build/peers}
data=${CROSSBAYES_DATA:-$here/../../shared/data}

# ---- the peers: a virtual environment with packages, its python on stdout
environment() { # directory, whether to install, packages
    dir=$1 ours=$2
    shift 2
    [ -x "$dir/bin/python" ] || python3 -m venv "$dir" >&2 || true
    python=$dir/bin/python
    [ -x "$python" ] || python=python3
    for package in "$@"; do
        module=$(echo "$package" | tr - _)
        [ "$package" = tensorflow-cpu ] && module=tensorflow
        [ "$ours" = yes ] || break
        "$python" -c "import importlib.util as u, sys; sys.exit(not u.find_spec('$module'))" \
            && continue
        echo "installing $package into $dir" >&2
        "$python" -m pip install --quiet --disable-pip-version-check "$package" >&2 || true
    done
    echo "$python"
}
python=$(environment "${XB_BENCH_VENV:-$build/peers}" \
    "$([ -n "${XB_BENCH_VENV-}" ] && echo no || echo yes)" \
    numpy scipy pandas chaospy torch jax)
tfp_python=$(environment "${XB_BENCH_TFP_VENV:-$build/peers-tfp}" \
    "$([ -n "${XB_BENCH_TFP_VENV-}" ] && echo no || echo yes)" \
    tensorflow-cpu tf-keras tensorflow-probability)

# ---- one thread, one core: the last one we may use
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES=
core=$(($(nproc) - 1))
pin=
taskset -c "$core" true 2>/dev/null && pin="taskset -c $core"

records=$build/bench_records.jsonl
said=$build/bench_stderr.txt
: >"$records"
failed() { # what, why: a row of the table
    python3 -c 'import json, sys
print(json.dumps({"workload": "failed", "case": sys.argv[1], "missing": sys.argv[2]}))' \
        "$1" "$2" >>"$records"
}
run() { # python, script, peer
    interpreter=$1 script=$2 peer=${3-}
    echo "$script $peer" >&2
    status=0
    # shellcheck disable=SC2086
    $pin "$interpreter" "$here/$script" "$build" $peer $quick --data "$data" \
        >>"$records" 2>"$said" || status=$?
    cat "$said" >&2
    [ "$status" = 0 ] || failed "$script $peer" "ended with status $status: $(tail -n 1 "$said")"
}
bench() { run "$python" "$@"; } # script [peer]

bench limits.py
bench bench_draw.py self
bench bench_draw.py torch
bench bench_draw.py numpy
bench bench_draw.py gsl
bench bench_draw.py unuran
bench bench_product.py
bench bench_fit.py
bench bench_rule.py numpy
bench bench_rule.py chaospy
bench bench_csv.py numpy
bench bench_csv.py pandas
bench bench_vi.py torch
bench bench_vi.py jax
run "$tfp_python" bench_vi.py tfp
bench bench_vi.py predict
bench bench_vi.py predict-jax
bench bench_uci.py
bench bench_energy.py
bench bench_crossbar.py
bench bench_conv.py torch
bench bench_conv.py torch-wide

"$python" "$here/table.py" "$build" "make bench${quick:+ QUICK=1}" <"$records"
