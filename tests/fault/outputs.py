"""No command writes over a file that it reads, and every file it writes is named.

    outputs.py PROGRAM SOURCES

Each case is run once, undisturbed, to see which files it makes: they are, exactly, those of
its "wrote" lines. Then each of these files is, in turn, one that the command reads: by its
own name, by other spellings of it, by a hard and by a symbolic link. The command must end
with status 2 and one line, before it has changed anything. Every option of the program that
names an output is in some case, by the sources' own list of them. Last, places: a file's
folder must exist, a folder of results is made, a figure has a known ending."""
import itertools
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass

from cases import JPEG, NET, make_inputs
from program import Program, Wrong, files, write

IMAGE_NET = ["--net", "flatten, dense 1", "--epochs", "1", "--mle-epochs", "1"]
FORMATS = ["--format", "svg,png,pdf"]
CACHE = ".images"
FACE = "faces/20_0_0_2017.jpg"


@dataclass
class Case:
    args: list
    reads: tuple          # files; those among the arguments are also read by other names
    also: tuple = ()      # outputs that are gone at the end, or that another run makes
    makes: bool = True    # False: `also` alone, nothing is run undisturbed
    wrong: tuple = ()     # arguments of the runs that must be refused, beyond `args`
    page: tuple = ()      # a page that is made, then texts that it must hold

    @property
    def name(self):
        return " ".join(self.args[:2])


TRAIN = ["train", "rows.csv", "--target", "y", "-o", "net.safetensors", *NET]
STUDY = ["study", "--quick", *FORMATS, "-o", "results", "--device-law", "law.json"]
SMALL = ["--widths", "1", "--depths", "1", "--seeds", "1"]
CELLS = tuple("results/nets/width1_depth1_seed1%s.safetensors" % end
              for end in ("", "_numbers"))
STAGES = ("mle", "gaussian", "device")


def studies():
    for name, more, reads in (("laws", ["--noise", "noise.csv"], ("noise.csv",)),
                              ("quadrature", [], ()), ("quantile", [], ()),
                              ("scalar", [], ()),
                              ("array", ["--data", "table.csv"], ("table.csv",)),
                              ("energy", [*SMALL, "--law", "law2.json"], ("law2.json",)),
                              ("narrow", [*SMALL, "--law", "law2.json"], ("law2.json",))):
        yield Case([STUDY[0], name, *STUDY[1:], *more], ("law.json", *reads),
                   also=CELLS if name in ("energy", "narrow") else ())
    yield Case(["study", "utkface", *STUDY[1:], "--data", "synthetic", "--size", "8"],
               ("law.json",))
    yield Case(["study", "retention", *STUDY[1:-2], "--device", "aged.json", "--data",
                "table.csv"],
               ("aged.json", "table.csv"))
    yield Case(["study", "utkface", *STUDY[1:], "--data", "faces", "--cache", "kept"],
               ("law.json", FACE), also=("kept",), makes=False)


CASES = [
    Case(["fit", "noise.csv", "-o", "fitted.json", "--figure", "pic"], ("noise.csv",)),
    Case(["fit", "noise.csv", "-o", "fitted.json", "--figure", "pic.pdf"], ("noise.csv",)),
    Case(["fit", "noise.csv", "--json", "--figure", "sub/pic.png"], ("noise.csv",)),
    Case(["device", "cells.csv", "-o", "device.json", "--report", "device", *FORMATS],
         ("cells.csv",)),
    Case(["device", "noise1.csv", "noise2.csv", "-o", "device.json"],
         ("noise1.csv", "noise2.csv")),
    Case(["sample", "law.json", "-n", "20", "-o", "z.csv"], ("law.json",)),
    Case(["sample", "law.json", "-n", "20", "-o", "z.npy", "--json"], ("law.json",)),
    Case([*TRAIN, "--history", "trace.csv", "--law", "law.json", "--resume"],
         ("rows.csv", "law.json"), also=("net.safetensors.checkpoint",)),
    Case(["train", "faces", "--target", "age", "--target-table", "ages.csv", "--size", "8", "-o",
          "net", "--cache", "kept", *IMAGE_NET], (FACE, "ages.csv"), also=("net.checkpoint",)),
    Case(["train", "faces", "--target", "age", "--size", "8", "-o", "net", *IMAGE_NET],
         (FACE,)),
    Case(["train", "t-images-idx3-ubyte", "-o", "net", *IMAGE_NET[:1], "flatten, dense 2",
          *IMAGE_NET[2:]], ("t-images-idx3-ubyte", "t-labels-idx1-ubyte")),
    Case(["predict", "model.safetensors", "rows.csv", "--draws", "20", "-o",
          "predicted.csv", "--law", "law.json"],
         ("model.safetensors", "rows.csv", "law.json")),
    Case(["predict", "model.safetensors", "rows.csv", "--draws", "20", "-o",
          "predicted.csv", "--share", "1/2"], ("model.safetensors", "rows.csv")),
    Case(["predict", "seen.safetensors", "faces", "--draws", "20", "-o", "predicted.csv",
          "--cache", "kept"], ("seen.safetensors", FACE)),
    Case(["eval", "seen.safetensors", "faces", "--draws", "20", "--cache", "kept", "--law",
          "law.json"], ("seen.safetensors", FACE, "law.json")),
    Case(["eval", "model.safetensors", "table.csv", "--draws", "20", "--save-calibrated",
          "new.safetensors"], ("model.safetensors", "table.csv")),
    Case(["crossbar", "seen.safetensors", "faces", "--reads", "10", "--array", "ideal",
          "--rows", "3", "--cache", "kept"], ("seen.safetensors", FACE)),
    Case(["crossbar", "model.safetensors", "rows.csv", "--reads", "10", "--calibration",
          "more.csv", "--array", "chip.json", "--costs", "costs.json", "--export", "export",
          "--sweep", "adc_bits=4:5", "-o", "sweep", *FORMATS],
         ("model.safetensors", "rows.csv", "more.csv", "chip.json", "costs.json",
          "law.json", "aged.json")),
    Case(["design", "model.safetensors", "rows.csv", "--calibration", "more.csv", "--array",
          "chip.json", "--over", "adc_bits=6,9", "--over", "draws=4", "--chips", "4", "--keep",
          "nll<=+100000%", "-o", "found", *FORMATS],
         ("model.safetensors", "rows.csv", "more.csv", "chip.json", "law.json",
          "aged.json")),
    Case(["design", "seen.safetensors", "faces", "--array", "ecram", "--over", "adc_bits=8",
          "--over", "draws=4", "--chips", "4", "--keep", "nll<=+100000%", "--cache", "kept"],
         ("seen.safetensors", FACE)),
    *studies(),
    Case(["reproduce", "--quick", "--only", "1", *FORMATS, "-o", "paper"], (FACE,),
         also=("paper/fig4/energy_nets.csv", "paper/fig8/energy.pdf", "paper/fig5/stamp.json",
               "paper/nets/made-for.txt", "paper/nets/width8_depth1_seed1.safetensors",
               "paper/faces/utkface_mle.checkpoint"), wrong=("--data", "faces")),
    Case(["demo", "--noise", "odd.csv", "--device", "aged.json", "--seed", "2", "-o", "demo",
          *FORMATS], ("odd.csv", "aged.json"), also=("demo/demo_noise.csv",),
         page=("demo/report.html", '<span class="badge differs">no family fits</span>',
               "crossbayes fit odd.csv -o demo/law.json --figure demo/fit.svg --seed 2")),
    Case(["demo", "--noise", "noise.csv", "-o", "."], ("noise.csv",), makes=False,
         also=("laws.dat", "report.html", "fit.svg", "energy_nets.csv")),
]


def make_files(program, folder):
    make_inputs(program, folder)
    write(folder, "sub/empty", b"")
    write(folder, "more.csv", b"x,y\n1,1\n2,4\n7,49\n")
    write(folder, "cells.csv", b"cell,level,time_s,conductance_S\n" + b"".join(
        b"%d,%d,%d,%de-7\n" % (i, i % 2, t, 100 + 100 * (i % 2) + t * (i % 7))
        for i in range(60) for t in (0, 1)))
    write(folder, "ages.csv", b"file,age\n" + b"".join(
        b"%d_0_0_2017.jpg,%d\n" % (20 + i, 20 + i) for i in range(12)))
    for old, new in (("digits-idx3-ubyte", "t-images-idx3-ubyte"),
                     ("digits-idx1-ubyte", "t-labels-idx1-ubyte")):
        shutil.copy(os.path.join(folder, old), os.path.join(folder, new))
    write(folder, "odd.csv", b"".join(  # three groups: no family fits
        b"%.6f\n" % (u * u if u < 0.3 else 3 + u if u < 0.7 else 9 - u * u * u)
        for u in ((i * 7919 % 400 + 0.5) / 400 for i in range(400))))
    program.must(["fit", "noise.csv", "-o", "law.json", "-q"], folder)
    program.must(["device", "cells.csv", "-o", "aged.json", "-q"], folder)
    for name, level in (("noise1.csv", 5), ("noise2.csv", 9)):
        write(folder, name, b"".join(b"%d.%d\n" % (level, (i * i * 7 + i) % 97)
                                     for i in range(100)))
    program.must(["fit", "noise.csv", "-o", "law2.json", "--family", "ecram", "-q"], folder)
    program.must([*TRAIN[:-len(NET) - 1], "model.safetensors", *NET, "-q"], folder)
    program.must(["train", "faces", "--target", "age", "--size", "8", "--no-cache", "-o",
                  "seen.safetensors", *IMAGE_NET, "-q"], folder)
    write(folder, "chip.json", json.dumps({"crossbayes": "array", "base": "mtj",
                                           "law": "law.json", "device": "aged.json",
                                           "age_s": 1, "g_min_us": 10,
                                           "g_max_us": 20}).encode())
    write(folder, "costs.json", json.dumps({"crossbayes": "costs"}).encode())


# ---- what is written, and said to be

def said(err):
    """The files of all "wrote" lines; long ones go on below, indented."""
    found, folder = set(), ""
    text = re.sub(r"\n {5,}", " ", err.decode())
    for line in text.splitlines():
        if not line.startswith("wrote "):
            raise Wrong("says on stderr: " + line)
        names = line[len("wrote "):]
        folder, colon, rest = names.partition(": ")
        found |= {os.path.normpath((folder if colon else "") + name)
                  for name in (rest if colon else names).split(", ")}
    return found


def notes_aside(err):
    """Without what is no list of files: notes are indented, or doubts about the data."""
    lines, keep = err.decode().splitlines(keepends=True), False
    for line in lines:
        keep = line.startswith("wrote ") or (keep and line.startswith("     "))
        if keep:
            yield line.encode()


def run_whole(program, case, start):
    """The files that an undisturbed run makes: those that it says it wrote."""
    folder = program.folder(start)
    end = program.run(case.args, folder)
    if end.status != 0:
        raise Wrong("undisturbed: status %d: %s" % (end.status, end.stderr.decode()))
    before = files(start)
    made = {n for n, data in files(folder).items() if before.get(n) != data}
    told = {n for n in said(b"".join(notes_aside(end.stderr))) if not os.path.isabs(n)}
    if told != made:
        raise Wrong("wrote %s and said %s" % (sorted(made - told), sorted(told - made)))
    if "--json" in case.args:
        json.loads(end.stdout)
    for text in case.page[1:]:
        if text not in files(folder)[case.page[0]].decode():
            raise Wrong("%s lacks '%s'" % (case.page[0], text))
    shutil.rmtree(folder)
    return made


def check_quiet(program, case, start):
    folder = program.folder(start)
    end = program.run([*case.args, "-q"], folder)
    if b"wrote" in end.stderr + end.stdout:
        raise Wrong("-q: says what it wrote")
    shutil.rmtree(folder)


# ---- a file that would be lost

def check_refused(program, args, folder, expected="would overwrite"):
    before = files(folder)
    end = program.run(args, folder)
    lines = end.stderr.decode().splitlines()
    if end.status != 2 or len(lines) != 1 or expected not in lines[0] or end.stdout:
        raise Wrong("%s: status %d, stdout %r, stderr: %s" %
                    (" ".join(args), end.status, end.stdout[:80], " | ".join(lines)))
    after = files(folder)
    changed = [n for n in before.keys() | after.keys() if before.get(n) != after.get(n)]
    if changed:
        raise Wrong("%s: refused, but changed %s" % (" ".join(args), changed))


SPELLINGS = itertools.cycle(("%s", "./%s", "sub/../%s", ".//sub/.././%s"))


def with_link(program, case, folder, source, output, link):
    path = os.path.join(folder, output)
    link(os.path.join(folder, source), path)
    try:
        check_refused(program, [*case.args, *case.wrong], folder)
    finally:
        os.remove(path)


def under_its_name(program, case, folder, source, name, output):
    """The input has the output's name itself, in some spelling."""
    os.rename(os.path.join(folder, source), os.path.join(folder, output))
    try:
        args = [name if a == source else a for a in case.args]
        check_refused(program, [*args, *case.wrong], folder)
    finally:
        os.rename(os.path.join(folder, output), os.path.join(folder, source))


def try_output(program, case, folder, output):
    os.makedirs(os.path.dirname(os.path.join(folder, output)), exist_ok=True)
    runs = 0
    for source in case.reads:
        for link in (os.link, os.symlink):
            with_link(program, case, folder, source, output, link)
            runs += 1
        if source in case.args:
            for spelling in {"%s", next(SPELLINGS)}:
                under_its_name(program, case, folder, source, spelling % output, output)
                runs += 1
    return runs


def run_case(program, case, start):
    made = run_whole(program, case, start) if case.makes else set()
    if case.makes and case.args[0] in ("fit", "train"):
        check_quiet(program, case, start)
    folder, runs = program.folder(start), 0
    for output in sorted(made | set(case.also)):
        if output.endswith(CACHE):
            continue  # of the program's own choice: it does without
        runs += try_output(program, case, folder, output)
    shutil.rmtree(folder)
    print("%-28s %3d outputs of %d inputs, %4d refused" %
          (case.name, len(made | set(case.also)), len(case.reads), runs), flush=True)


# ---- which options name outputs

def output_options(sources):
    """(command, option) of all that the program's tables have."""
    row = re.compile(r'\{\s*"([a-z-]+)",\s*(?:0|\'.\'),\s*CLI_OUTPUT')
    images = ("CLI_IMAGE_OPTIONS", "CLI_CACHE_OPTIONS")
    with open(os.path.join(sources, "cli", "inputs.h")) as stream:
        of_images = row.findall(stream.read().replace("\\\n", "\n"))
    for name in sorted(os.listdir(os.path.join(sources, "cli"))):
        command = re.fullmatch(r"cmd_(\w+)\.c", name)
        if not command:
            continue
        with open(os.path.join(sources, "cli", name)) as stream:
            text = stream.read()
        more = of_images if any(name in text for name in images) else []
        for option in row.findall(text) + more:
            yield command.group(1), option


def check_all_options(sources):
    options = set(output_options(sources))
    if len(options) < 12:
        raise Wrong("only %d options name outputs: are the tables read?" % len(options))
    for command, option in sorted(options):
        flags = {"--" + option} | ({"-o"} if option == "output" else set())
        if not any(c.args[0] == command and flags & set(c.args) for c in CASES):
            raise Wrong("no case has %s --%s" % (command, option))


# ---- places

PLACES = [  # arguments whose output cannot be there, and what the line says of it
    (["fit", "noise.csv", "-o", "no/law.json"], "the folder no does not exist"),
    (["fit", "noise.csv", "--figure", "no/pic.svg"], "the folder no does not exist"),
    (["fit", "noise.csv", "--figure", "pic.jpg"], ".svg, .png or .pdf"),
    (["fit", "noise.csv", "-o", "sub"], "directory"),
    (["fit", "noise.csv", "-o", "x.svg", "--figure", "x.svg"], "both"),
    (["fit", "noise.csv", "-o", "x.dat", "--figure", "./x"], "both"),
    (["sample", "mtj", "-n", "9", "-o", "no/z.csv"], "the folder no does not exist"),
    (["sample", "mtj", "-n", "9", "-o", "noise.csv/z.csv"], "the folder noise.csv does not exist"),
    ([*TRAIN[:5], "no/net", *NET], "the folder no does not exist"),
    ([*TRAIN, "--history", "no/trace.csv"], "the folder no does not exist"),
    ([*TRAIN, "--history", "net.safetensors"], "both"),
    ([*TRAIN, "--history", "net.safetensors.checkpoint"], "both"),
    (["train", "faces", "--target", "age", "-o", "net", "--cache", "no/kept"], "the folder no does not exist"),
    (["predict", "model.safetensors", "rows.csv", "-o", "no/p.csv"], "the folder no does not exist"),
    (["study", "laws", "--quick", "-o", "noise.csv"], "expected a folder"),
    (["study", "laws", "--quick", "-o", "noise.csv/deep"], "noise.csv"),
    (["reproduce", "--quick", "-o", "noise.csv"], "expected a folder"),
    (["demo", "-o", "noise.csv"], "expected a folder"),
    (["crossbar", "model.safetensors", "rows.csv", "--export", "noise.csv"],
     "expected a folder"),
]
MADE = [  # folders of results, two levels that were not there
    (["study", "laws", "--quick", "-o", "new/deep"], "new/deep/laws.json"),
    (["crossbar", "model.safetensors", "rows.csv", "--reads", "9", "--export", "new/deep"],
     "new/deep/array.json"),
    (["crossbar", "model.safetensors", "rows.csv", "--reads", "9", "--sweep", "adc_bits=4:5",
      "-o", "new/deep"], "new/deep/adc_bits.csv"),
    (["fit", "noise.csv", "--figure", "sub.d/pic"], "sub.d/pic.svg"),
]


def check_places(program, start):
    for args, expected in PLACES:
        check_refused(program, args, start, expected)
    os.mkdir(os.path.join(start, "sub.d"))
    for args, output in MADE:
        folder = program.folder(start)
        program.must(args, folder)
        if not os.path.exists(os.path.join(folder, output)):
            raise Wrong("%s: no %s" % (" ".join(args), output))
        shutil.rmtree(folder)
    print("%-28s %3d refused, %d made" % ("places", len(PLACES), len(MADE)))


def main():
    problems = 0
    with Program(sys.argv[1]) as program:
        start = program.folder()
        make_files(program, start)
        check_all_options(sys.argv[2])
        check_places(program, start)
        for case in CASES:
            try:
                run_case(program, case, start)
            except Wrong as problem:
                print("WRONG %s: %s" % (case.name, problem), flush=True)
                problems += 1
    print("%d wrong" % problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
