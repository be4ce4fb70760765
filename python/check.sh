#!/bin/sh
# Builds and examines the Python package; `make python` and `make check-python` call it.
#   check.sh BUILD wheel   BUILD/wheel/crossbayes-*.whl, by a virtual environment in BUILD
#   check.sh BUILD test    installs that wheel beside what tests need from PyPI, and runs the
#                          tests, mypy, ruff, auditwheel and abi3audit; then a short run on
#                          every Python of $PYTHONS, by default those of PATH
#   check.sh BUILD sanitize   builds another wheel with AddressSanitizer and UBSan in its C code,
#                          and runs the tests but for notebooks, and the fuzzer for
#                          $FUZZ_SECONDS [300], on it
#   check.sh BUILD api     the reference from docstrings, BUILD/api/index.html; a warning fails
#   check.sh BUILD peers   installs that wheel beside PyTorch, TensorFlow Probability, NumPyro
#                          and their kin (several GB), and compares imported models with
#                          what those libraries predict themselves; Python 3.12 and later
#                          have AIHWKit too
#   check.sh BUILD bench   speed beside those libraries, as one table; UCI concrete from
#                          $CROSSBAYES_DATA; DOCS=1 writes it to docs/python.md
set -eu
build=$1 what=$2
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$build"
build=$(cd "$build" && pwd)
venv=$build/python-venv
python=${PYTHON:-python3}

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
if [ "$what" = wheel ]; then
    rm -rf "$build/wheel"
    "$venv/bin/pip" -q wheel --no-deps -w "$build/wheel" "$root"
    ls "$build"/wheel/*.whl
    exit 0
fi

if [ "$what" = sanitize ]; then
    sanitized=$build/python-sanitize
    rm -rf "$sanitized/wheel"
    "$venv/bin/pip" -q wheel --no-deps -w "$sanitized/wheel" -C cmake.define.XB_SANITIZE=ON \
        -C build-dir="$sanitized/build" "$root"
    [ -x "$sanitized/venv/bin/python" ] || "$python" -m venv "$sanitized/venv"
    "$sanitized/venv/bin/pip" -q install -r "$root/python/tests/requirements.txt"
    "$sanitized/venv/bin/pip" -q install --force-reinstall --no-deps "$sanitized"/wheel/*.whl
    rm -rf "$sanitized/tests"
    cp -r "$root/python/tests" "$sanitized/tests"
    cd "$sanitized/tests"
    # Python's own objects look like leaks; memory that runs out is an error to be raised.
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
    export MPLBACKEND=Agg
    preload="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
    LD_PRELOAD=$preload "$sanitized/venv/bin/python" -m pytest -c "$root/pyproject.toml" --rootdir . \
        -p no:cacheprovider --ignore=peers --ignore=test_notebooks.py .
    LD_PRELOAD=$preload exec "$sanitized/venv/bin/python" fuzz_calls.py "${FUZZ_SECONDS:-300}"
fi

wheel=$(ls "$build"/wheel/*.whl)
if [ "$what" = api ]; then
    "$venv/bin/pip" -q install sphinx scikit-learn pandas
    "$venv/bin/pip" -q install --force-reinstall --no-deps "$wheel"
    exec "$venv/bin/python" -m sphinx -q -W --keep-going -b html "$root/docs/api" "$build/api"
fi
if [ "$what" = peers ] || [ "$what" = bench ]; then
    peers=$build/python-venv-peers
    if [ ! -x "$peers/bin/python" ]; then
        for version in ${PYTHON:-python3.13 python3.12 python3}; do
            "$version" -c '' 2>/dev/null && break
        done
        "$version" -m venv "$peers"
    fi
    "$peers/bin/pip" -q install -r "$root/python/tests/peers/requirements.txt"
    "$peers/bin/pip" -q install --force-reinstall --no-deps "$wheel"
fi
if [ "$what" = bench ]; then
    data=${CROSSBAYES_DATA:-}/uci/concrete/data.txt
    [ -e "$data" ] && set -- --concrete "$data" || set --
    [ -z "${DOCS:-}" ] || set -- "$@" --docs "$root/docs/python.md"
    cd "$root/bench"
    exec "$peers/bin/python" bench_python.py "$@"
fi
if [ "$what" = peers ]; then
    cp -r "$root/python/tests/peers" "$build/python-peers.new"
    rm -rf "$build/python-peers"
    mv "$build/python-peers.new" "$build/python-peers"
    cd "$build/python-peers"
    exec "$peers/bin/python" -m pytest -q -rs --disable-warnings --doctest-modules . \
        "$("$peers/bin/python" -c 'import crossbayes.torch as t; print(t.__path__[0])')"
fi
"$venv/bin/pip" -q install -r "$root/python/tests/requirements.txt"
"$venv/bin/pip" -q install --force-reinstall --no-deps "$wheel"
PATH=$venv/bin:$PATH
export PATH MPLBACKEND=Agg CROSSBAYES_PROGRAM="$build/check/crossbayes" CROSSBAYES_NOTEBOOKS="$root/python/notebooks"

cd "$root"
ruff check -q
ruff format -q --check
mypy
abi3audit --strict "$wheel"
auditwheel show "$wheel" 2>/dev/null | grep -o 'manylinux[_0-9a-z]*' | head -n 1
# The tests run on what was installed, not on the sources beside them.
cp -r python/tests "$build/python-tests.new"
rm -rf "$build/python-tests"
mv "$build/python-tests.new" "$build/python-tests"
cd "$build/python-tests"
package=$(python -c 'import crossbayes, os; print(os.path.dirname(crossbayes.__file__))')
python -m pytest -c "$root/pyproject.toml" --rootdir . -rs --ignore="$package/torch" --ignore=peers . "$package"

# One wheel, every Python: a law, a fit and a model, the same bytes in all of them.
for version in ${PYTHONS:-python3.9 python3.10 python3.11 python3.12 python3.13 python3.14}; do
    "$version" -c '' 2>/dev/null || { echo "skipped: no $version"; continue; }
    other=$build/python-venv-$("$version" -c 'import platform; print(platform.python_version())')
    [ -x "$other/bin/python" ] || "$version" -m venv "$other"
    "$other/bin/pip" -q install --force-reinstall "$wheel"
    "$other/bin/python" "$root/python/tests/smoke.py"
done | tee "$build/python-smoke.txt"
seen=$(grep -v skipped "$build/python-smoke.txt" | cut -d' ' -f3- | sort -u | wc -l)
[ "$seen" -le 1 ] || { echo "Pythons differ: $build/python-smoke.txt" >&2; exit 1; }
