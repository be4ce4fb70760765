#!/bin/sh
# study_page.sh CROSSBAYES: the page of a study and the figure of a fit in a browser, and
# the browser check itself against pages with one flaw each (page_browser.py --self-test).
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)

command -v python3 >/dev/null || {
    echo "skipped: no python3 to drive a browser"
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 "$here/page_browser.py" --self-test
for study in laws quadrature quantile; do
    "$program" study $study --quick -q -o out >/dev/null
done
"$program" study laws --quick -q --device-law mtj:B=0.003,w=0.5 -o narrow >/dev/null
python3 "$here/page_browser.py" out/laws.html out/quadrature.html out/quantile.html \
    narrow/laws.html
