"""switched.py: a build with all drawn breakages in it (schemata.py), and which test catches which.

Every test runs once without a breakage and notes at which places both forms differed; it
then runs once with each breakage that differed and is not caught yet. Short tests come
first. Breakages that cannot be switched at run time are `alone`: the tests that came near
them are shown a build of each.
"""
import concurrent.futures
import hashlib
import json
import mmap
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

import linemap
import rebuild
import schemata

MANY_USERS = 12  # more sources are not compiled again to note who uses a header
NEAR = 2         # what a place's byte has where both forms differed
ERROR = re.compile(r"^(\S+?):(\d+)(?::\d+)?: error", re.M)
SWITCH = re.compile(r"XB_SWITCH_(?:AT|BOTH|TRUTH)\((\d+),")


class Switched:
    """Executables of the build with breakages 1, 2, ... of `mutants` in them."""

    def __init__(self, build, mutants, at_once):
        self.build, self.at_once = build, at_once
        self.lock, self.turns = threading.Lock(), {}
        self.room = build.folder / "switched"
        self.files, self.texts = {}, {}
        for number, mutant in enumerate(mutants, 1):
            if build.sources(mutant["file"]):
                self.files.setdefault(mutant["file"], {})[number] = mutant["place"]
        self.size = max(4096, len(mutants) + 1)
        self.alone, self.made = set(), {}
        self.names = {number: f"{m['file']}: {m['name']}" for number, m in enumerate(mutants, 1)}
        self.write_runtime()
        self.remember()
        for file in self.files:
            self.write(file)
        self.compile_all()
        self.keep_alone()
        self.archive()

    def write_runtime(self):
        for part in linemap.PARTS:
            shutil.rmtree(self.room / part, ignore_errors=True)
        (self.room / "objects").mkdir(parents=True, exist_ok=True)
        (self.room / "schemata.h").write_text(schemata.HEADER)
        (self.room / "schemata.c").write_text(schemata.RUNTIME % self.size)
        subprocess.run(["cc", "-O1", "-fPIC", "-c", "schemata.c", "-o", "schemata.o"],
                       cwd=self.room, check=True)

    def remember(self):
        """Which breakages an earlier run found that cannot be switched."""
        path = self.room / "alone.json"
        known = set(json.loads(path.read_text())) if path.exists() else set()
        self.alone = {n for n, name in self.names.items() if name in known}

    def keep_alone(self):
        names = sorted(self.names[n] for n in self.alone)
        (self.room / "alone.json").write_text(json.dumps(names, indent=0))

    def write(self, file):
        """The file with its breakages; those that are alone only note that functions ran."""
        text, places = (rebuild.ROOT / file).read_text(), self.files[file]
        switched = {n: place for n, place in places.items() if n not in self.alone}
        text, inside = schemata.with_breakages(text, switched)
        self.alone |= set(places) - inside
        if set(places) - inside:
            text = schemata.with_notes(text, set(places) - inside)
        path = self.room / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.texts[file] = hashlib.sha256(text.encode()).hexdigest()

    def users(self, file):
        """The sources to compile for it."""
        sources = self.build.sources(file)
        if all(n in self.alone for n in self.files[file]) and len(sources) > MANY_USERS:
            return []
        return [s for s in sources if not s.endswith(rebuild.BEYOND)]

    def compile_all(self):
        wanted = {s for file in self.files for s in self.users(file)}
        while wanted:
            with concurrent.futures.ThreadPoolExecutor(self.at_once) as pool:
                wrong = set().union(*pool.map(self.compile_one, sorted(wanted)))
            wanted = set()
            for file in {file for file, _ in wrong}:
                wanted |= set(self.build.sources(file))
                self.alone |= {number for name, number in wrong if name == file}
                self.write(file)
            wanted = {s for s in wanted if not s.endswith(rebuild.BEYOND)}

    def compile_one(self, source):
        """Compiles it; returns the breakages that cannot be switched, {(file, number)}."""
        inside = pathlib.Path(source).relative_to(rebuild.ROOT)
        theirs = self.build.object_of(source)
        ours = self.room / "objects" / pathlib.Path(theirs).name
        stamp = ours.with_suffix(".txt")
        made_from = linemap.product_digest() + "".join(
            text for file, text in sorted(self.texts.items())
            if source in self.build.sources(file))
        if stamp.exists() and stamp.read_text() == made_from:  # by a run that was interrupted
            self.made[theirs] = ours
            return set()
        flags = ["-w", "-ftrack-macro-expansion=0", "-include", str(self.room / "schemata.h"),
                 f"-ffile-prefix-map={self.room}={rebuild.ROOT}", f"-I{self.room / 'src'}",
                 f"-I{self.room / 'studies'}", "-iquote", str(pathlib.Path(source).parent)]
        at = self.room / inside if str(inside) in self.files else source
        result = rebuild.run(rebuild.compile_words(self.build, source, at, ours, flags),
                             self.build.folder)
        if result.returncode == 0:
            self.made[theirs] = ours
            stamp.write_text(made_from)
            return set()
        places = ERROR.findall(result.stderr), re.findall(r"(\S+?):(\d+)", result.stderr)
        wrong = next(filter(None, (self.to_blame(found) for found in places)), None)
        if not wrong:
            raise rebuild.Invalid(f"{source} does not compile:\n{result.stderr[-2000:]}")
        return wrong

    def to_blame(self, places):
        """The breakages at places of our files where something does not compile, or all of
        these files: {(file, number)}."""
        wrong = set()
        for path, line in places:
            file = path.removeprefix(f"{self.room}/")
            if file not in self.files:
                continue
            text = (self.room / file).read_text().splitlines()[int(line) - 1]
            here = {int(number) for number in SWITCH.findall(text)}
            wrong |= {(file, n) for n in (here or set(self.files[file])) - self.alone}
        return wrong

    def archive(self):
        """The libraries with the objects made here."""
        self.instead = {}
        for theirs in self.build.folder.glob("libcrossbayes*.a"):
            ours = self.room / theirs.name
            shutil.copy(theirs, ours)
            members = subprocess.run(["ar", "t", ours], check=True, capture_output=True,
                                     text=True).stdout.split()
            changed = [self.room / "schemata.o"] * ("studies" not in theirs.name)
            changed += [o for t, o in self.made.items()
                        if rebuild.PROGRAM_PART not in t and o.name in members]
            subprocess.run(["ar", "r", ours, *changed], check=True, capture_output=True)
            self.instead[theirs.name] = str(ours)

    def executable(self, target):
        """The target with all breakages, linked once; None: it has no static library."""
        out = self.room / "bin" / target
        with self.lock:
            turn = self.turns.setdefault(target, threading.Lock())
        with turn:
            stamp, made_from = out.with_name(out.name + ".txt"), self.made_from(target)
            if stamp.exists() and stamp.read_text() == made_from:  # it may be of an earlier run
                return out if out.exists() else None
            linked = self.link(target, out)
            stamp.write_text(made_from)
            return linked

    def made_from(self, target):
        """What changes when the target must be linked again."""
        own = (self.build.folder / target).stat().st_mtime_ns
        return f"{own} {self.size} {linemap.product_digest()} {sorted(self.texts.items())}"

    def link(self, target, out):
        out.parent.mkdir(parents=True, exist_ok=True)
        for module in self.build.folder.glob("*.so"):
            try:
                (out.parent / module.name).symlink_to(module)
            except FileExistsError:
                pass
        words = self.build.link_command(target)
        if not any(rebuild.is_library(word) for word in words):
            return None
        own = {theirs: str(ours) for theirs, ours in self.made.items()}
        words[words.index("-o") + 1] = str(out)
        words = [own.get(word, self.instead.get(word, word)) for word in words]
        rebuild.link(self.build, words[:1] + ["-Wl,--strip-debug"] + words[1:]
                     + [str(self.room / "libcrossbayes.a")])
        return out

    def run(self, test, environment, seconds):
        """Runs a test; returns its status, CPU seconds and the end of its output."""
        instead = {target: path for target in rebuild.executables(self.build, test)
                   if (path := self.executable(target))}
        command, its_own = rebuild.replaced(self.build, test, instead)
        with tempfile.TemporaryDirectory(prefix="xb-run-") as folder:
            room = pathlib.Path(folder)
            status, used = rebuild.run_test(command, {**its_own, **environment}, room, seconds,
                                            self.build.folder)
            return status, used, (room / "output.txt").read_text(errors="replace")[-3000:]

    def seen(self, test, seconds):
        """A run without breakages: its status, CPU seconds and the places' bytes."""
        with tempfile.NamedTemporaryFile(prefix="xb-seen-") as file:
            file.truncate(self.size)
            status, used, output = self.run(test, {"XB_MUTANT_SEEN": file.name}, seconds)
            with mmap.mmap(file.fileno(), self.size) as bytes_:
                return status, used, bytes(bytes_), output
