"""rebuild.py: parts of a build made again from other texts, for mutate.py.

The commands of the build compile a file as it would read with a change, and link the
tests and the program with these objects, in a folder of their own: neither the sources
nor the build are touched. Tests run as CTest runs them, with the executables made here.
"""
import functools
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ("xb_objects", "xb_os", "xb_studies_objects")
PROGRAM = "crossbayes"
PROGRAM_PART = "crossbayes_cli"
ASLEEP_MOST = 60  # seconds that a test may do nothing at all
LOOK_EACH = 3     # seconds between looks whether it does
MEMORY_MOST = 6 << 30  # bytes of a test's data: a broken size must not take the machine
# Tests of sources and packages do not run the objects made here; double-precision and
# emulated forms run the code of other tests again; faults are injected by the thousand, and
# pages need a browser.
TESTS = re.compile(r"(?!.*_(double|emulated)$)"
                   r"(test_|fuzz_|example_|determinism|completion|cuda_(nets|leap)$|docs_output"
                   r"|golden|fault_outputs)")
# Kernels for instructions that this machine lacks: no test here can run them.
BEYOND = () if " avx512vl" in pathlib.Path("/proc/cpuinfo").read_text() else ("level_v4.c",)


class Invalid(Exception):
    """A change that does not compile or link."""


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        entries = json.loads((self.folder / "compile_commands.json").read_text())
        self.compile, self.links = {}, {}
        for entry in entries:  # the libraries' and the program's objects, not the tests' own
            if any(f"{part}.dir" in entry["command"] for part in (*LIBRARIES, PROGRAM_PART)):
                self.compile[entry["file"]] = entry["command"]

    def ninja(self, *tool):
        return subprocess.run(["ninja", "-C", self.folder, "-t", *tool], check=True,
                              capture_output=True, text=True).stdout

    @functools.cached_property
    def users(self):
        """{file: the sources that were compiled with it}."""
        found, source = {}, None
        for line in self.ninja("deps").splitlines():
            name = os.path.normpath(self.folder / line.strip())  # they may be relative
            if line and not line.startswith(" "):
                source = None
            elif source is None and name in self.compile:
                source = name
            elif source:
                found.setdefault(name, set()).add(source)
        return found

    def sources(self, file):
        """What must be compiled again: the file, or all that include the header."""
        path = str(ROOT / file)
        return [path] if path in self.compile else sorted(self.users.get(path, ()))

    def object_of(self, source):
        return re.search(r"-o (\S+)", self.compile[source]).group(1)

    def link_command(self, target):
        if target not in self.links:
            line = self.ninja("commands", "-s", target).strip().splitlines()[-1]
            self.links[target] = shlex.split(re.sub(r"^: && | && :$", "", line))
        return list(self.links[target])

    def tests(self, which=TESTS):
        """CTest's tests whose names match: {name: {"command", "environment"}}."""
        listed = json.loads(subprocess.run(
            ["ctest", "--show-only=json-v1"], cwd=self.folder, check=True,
            capture_output=True, text=True).stdout)["tests"]
        return {test["name"]: {"command": test["command"], "environment": dict(
            pair.split("=", 1) for p in test["properties"] if p["name"] == "ENVIRONMENT"
            for pair in p["value"])} for test in listed
            if re.match(which, test["name"]) and "command" in test}  # else not built


def run(command, cwd):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace")


def compile_words(build, source, text_at, out, flags):
    """The build's command for `source` with another text, output and further flags."""
    words = shlex.split(build.compile[source])
    if pathlib.Path(words[0]).name == "ccache":
        del words[0]
    for flag in ("-MD", "-Werror"):
        while flag in words:
            words.remove(flag)
    for flag in ("-MT", "-MF"):
        if flag in words:
            del words[words.index(flag):words.index(flag) + 2]
    words[words.index("-o") + 1] = str(out)
    words[words.index("-c") + 1] = str(text_at)
    return words[:1] + flags + words[1:]


def compile_one(build, source, text_at, out, flags):
    result = run(compile_words(build, source, text_at, out, flags), build.folder)
    if result.returncode != 0:
        raise Invalid(f"{source} does not compile:\n{result.stderr[-2000:]}")


def build_objects(build, file, text, room):
    """Compiles `file` with this text; returns {object of the build: object made here}."""
    changed, made = room / file, {}
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text(text)
    for source in build.sources(file):
        if source.endswith(BEYOND):
            continue
        ours = room / (pathlib.Path(source).name + ".o")
        flags = [f"-ffile-prefix-map={room}={ROOT}", f"-I{room / 'src'}", f"-I{room / 'studies'}",
                 "-iquote", str(pathlib.Path(source).parent)]
        compile_one(build, source, changed if source == str(ROOT / file) else source, ours, flags)
        made[build.object_of(source)] = str(ours)
    if not made:
        raise Invalid(f"nothing is compiled from {file}")
    return made


def is_library(word):
    return re.search(r"libcrossbayes[-a-z]*\.a$", word)


def link_words(build, target, out, objects, before, flags=()):
    """The build's command for `target` with other objects in the place of its own, and
    `before` in front of the libraries."""
    words = build.link_command(target)
    words[words.index("-o") + 1] = str(out)
    words = [objects.get(word, word) for word in words]
    library = next(i for i, word in enumerate(words) if is_library(word))
    words[library:library] = before
    return words[:1] + ["-Wl,--strip-debug", *flags] + words[1:]


def link(build, words):
    result = run(words, build.folder)
    if result.returncode != 0:
        raise Invalid(f"this does not link: {' '.join(words)}\n{result.stderr[-2000:]}")


def link_made(build, target, made, room):
    """The target with the objects made here, in the room; linked at most once."""
    out = room / pathlib.Path(target).name
    if not out.exists():
        own = build.link_command(target)
        extra = [ours for theirs, ours in made.items()
                 if theirs not in own and any(part in theirs for part in LIBRARIES)]
        link(build, link_words(build, target, out, made, extra))
    return out


def executables(build, test):
    """The targets of the build that a test's command and environment name."""
    words = test["command"] + list(test["environment"].values())
    inside = [os.path.relpath(word, build.folder) for word in words
              if word.startswith(f"{build.folder}/")]
    return [word for word in inside if os.access(build.folder / word, os.X_OK)
            and (build.folder / word).is_file() and not word.endswith(".so")]


def replaced(build, test, instead):
    """The command and environment with other executables: {target: path}."""
    swap = {str(build.folder / target): str(path) for target, path in instead.items()}
    return ([swap.get(word, word) for word in test["command"]],
            {name: swap.get(value, value) for name, value in test["environment"].items()})


def is_asleep(session):
    """True if no thread of the session runs, waits for a core, or was stopped by a signal."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int((process / "stat").read_text().rpartition(")")[2].split()[3]) != session:
                continue
            states = {(thread / "stat").read_text().rpartition(")")[2].split()[0]
                      for thread in (process / "task").iterdir()}
        except OSError:  # it has just ended
            continue
        if states & {"R", "D", "T"}:
            return False
    return True


def wait_for(process, seconds):
    """Waits for the process; returns status and CPU seconds. Its session is killed after it
    slept for `seconds`: on a busy machine a test that waits for a core is not a hanging one."""
    last_awake = last_look = time.monotonic()
    pause = 0.01
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        now = time.monotonic()
        if now - last_look > LOOK_EACH:
            last_look = now
            if not is_asleep(process.pid):
                last_awake = now
            if now - last_awake > seconds:
                os.killpg(process.pid, signal.SIGKILL)
                last_awake = float("inf")
        time.sleep(pause)
        pause = min(1.2 * pause, 0.2)


def run_test(command, environment, room, cpu_seconds, modules, limit_memory=True):
    """Runs a test in the room; returns its exit status and the CPU seconds it took. A
    sanitizer's shadow needs more addresses than any limit. XB_PATIENT tells the test that its
    processor time is limited here, and its time by the clock is not."""
    for module in pathlib.Path(modules).glob("*.so"):  # the program looks for them beside it
        if not (room / module.name).exists():
            (room / module.name).symlink_to(module)

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds) + 1,) * 2)
        if limit_memory:
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_MOST,) * 2)
    with tempfile_in(room) as output:
        process = subprocess.Popen(command, cwd=room, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=output, preexec_fn=limit, start_new_session=True,
                                   env=dict(os.environ, TMPDIR=str(room), XB_PATIENT="1",
                                            **environment))
        return wait_for(process, ASLEEP_MOST)


def tempfile_in(room):
    return open(room / "output.txt", "wb")
