#!/bin/sh
# demo_page.sh CROSSBAYES: the demo's page in a browser (page_browser.py), and its
# commands run as they are printed. Long: only with XB_LONG=1, as `make check-long` sets.
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)

case ${XB_LONG-0} in
0 | '')
    echo "skipped: the demo's page in a browser (make check-long)"
    exit 77
    ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ln -s "$program" crossbayes
PATH=$folder:$PATH
crossbayes demo -q -o "a demo's" >/dev/null

# every command of the page, once
grep -o '<code>[^<]*' "a demo's/report.html" |
    sed "s/<code>//; s/&#39;/'/g; s/&quot;/\"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g" |
    sort -u >commands
[ "$(wc -l <commands)" -ge 9 ]
while read -r line; do
    sh -c "$line" </dev/null >/dev/null || {
        echo "this command of the page fails: $line" >&2
        exit 1
    }
done <commands

command -v python3 >/dev/null || {
    echo "skipped: no python3 to drive a browser"
    exit 77
}
python3 "$here/page_browser.py" "a demo's/report.html"
