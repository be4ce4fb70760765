#!/usr/bin/env python3
"""completion.py PROGRAM: what bash, zsh and fish themselves offer with the scripts of
`crossbayes completion`. A shell that is not installed is skipped and said so."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SKIP = 77

# line as typed before Tab, some words that are offered, some that are not
CASES = [
    ("crossbayes pre", ["predict"], ["train"]),
    ("crossbayes help sch", ["schedule"], []),
    ("crossbayes study ene", ["energy"], []),
    ("crossbayes train --estim", ["--estimator"], []),
    ("crossbayes train --estimator fl", ["flipout"], ["shared"]),
    ("crossbayes fit --family lap", ["laplace"], []),
    ("crossbayes eval --law bim", ["bimodal"], []),
    ("crossbayes law bim", ["bimodal"], []),
    ("crossbayes sample lap", ["laplace"], []),
    ("crossbayes plan lev", ["levels"], []),
    ("crossbayes study -l bim", ["bimodal"], []),
    ("crossbayes study -l mtj -l bim", ["bimodal"], []),
    ("crossbayes crossbar --array ec", ["ecram"], []),
    ("crossbayes crossbar --set adc_b", ["adc_bits="], []),
    ("crossbayes crossbar --sweep mean_l", ["mean_levels="], []),
    ("crossbayes train --prior lap", ["laplace:"], []),
    ("crossbayes train --prior sta", ["standard"], []),
    ("crossbayes train --sigma-transform so", ["softplus"], ["exp"]),
    ("crossbayes train --preset pa", ["paper"], []),
    ("crossbayes fit --segment lo", ["longest"], ["last"]),
    ("crossbayes fit --detrend wi", ["window:"], []),
    ("crossbayes predict --draws ad", ["adaptive"], ["auto", "N"]),
    ("crossbayes crossbar --costs mo", ["model"], []),
    ("crossbayes design --over for_", ["for_array="], []),
    ("crossbayes study --kernels-o", ["--kernels-only"], []),
    ("crossbayes completion zs", ["zsh"], []),
    ("crossbayes manual crossb", ["crossbar"], []),
]


def offered_by_bash(script, line):
    words = line.split(" ")
    code = (f". {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1};"
            " compopt() { :; }; _crossbayes; printf '%s\\n' \"${COMPREPLY[@]}\"")
    return subprocess.run(["bash", "--norc", "-c", code], check=True, capture_output=True,
                          text=True).stdout.split()


def offered_by_fish(script, line):
    code = f"source {script}; complete -C '{line}'"
    out = subprocess.run(["fish", "--no-config", "-c", code], check=True,
                         capture_output=True, text=True).stdout
    return [row.split("\t")[0] for row in out.splitlines()]


def read_until(terminal, wanted, seconds):
    text, end = "", time.monotonic() + seconds
    while wanted not in text and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")
    return text


class Zsh:
    """An interactive zsh: a line, Tab, and a widget that shows what became of it."""

    def __init__(self, script):
        start = (f"autoload -U compinit; compinit -u -D; . {script}; PS1='> ';"
                 " show() { print; print \"LINE<$BUFFER>END\"; BUFFER=; }; zle -N show;"
                 " bindkey '^X' show; print READY\n")
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.environ.update(TERM="dumb", ZDOTDIR="/nonexistent")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        os.write(self.terminal, start.encode())
        read_until(self.terminal, "\nREADY", 20)
        read_until(self.terminal, "> ", 5)

    def offered(self, line):
        os.write(self.terminal, line.encode() + b"\t\x18")
        text = read_until(self.terminal, ">END", 20)
        found = re.search(r"LINE<(.*?)>END", text)
        return found.group(1).split() if found else [repr(text)]

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.child, 0)


SHELLS = {"bash": offered_by_bash, "zsh": None, "fish": offered_by_fish}


def main():
    failed = ran = 0
    with tempfile.TemporaryDirectory() as room:
        for shell, ask in SHELLS.items():
            if not shutil.which(shell):
                print(f"skipped: completion in {shell}: it is not installed")
                continue
            script = pathlib.Path(room) / f"script.{shell}"
            script.write_bytes(subprocess.run([PROGRAM, "completion", shell], check=True,
                                              capture_output=True).stdout)
            zsh = Zsh(script) if shell == "zsh" else None
            for line, there, not_there in CASES:
                offered, ran = zsh.offered(line) if zsh else ask(script, line), ran + 1
                if not all(word in offered for word in there) or \
                        any(word in offered for word in not_there):
                    failed += 1
                    print(f"{shell}: '{line}' offers {offered}, expected {there}")
            if zsh:
                zsh.end()
    print(f"{ran - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0 if ran else SKIP)


main()
