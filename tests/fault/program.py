"""Running the program in folders of its own, with or without a fault.

A template is a folder with a command's inputs. Each run gets a copy of it, so that what a
run leaves behind can be compared, byte for byte, with what was there and with what an
undisturbed run makes."""
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

# $XB_LONG: 0 is the short form of a test (make check), 1 the long one (make check-long), and
# 2 the exhaustive one (make check-exhaustive).
LONG = int(os.environ.get("XB_LONG") or 0)
KINDS = ("alloc", "buffer", "open", "write", "print", "sync", "dirsync", "rename", "close",
         "mkdir", "truncate", "thread", "space")
ROOMS = 2  # copies of a run whose results wait to be looked at
LEFT = -1  # fork.c: a fault that was not tried
ASAN_EXIT = 99
ASAN_OPTIONS = ("verify_asan_link_order=0:allocator_may_return_null=1:detect_leaks=1:"
                "exitcode=%d" % ASAN_EXIT)


@dataclass
class Ended:
    """What a run left behind."""
    status: int
    stdout: bytes
    stderr: bytes
    folder: str


class Program:
    """The program, the library that makes calls fail, and a folder for all the rest."""

    def __init__(self, path, shim=None, sanitized=False):
        self.path = os.path.abspath(path)
        self.shim = os.path.abspath(shim) if shim else None
        self.sanitized = sanitized
        self.timeout = 900 if sanitized else 600
        if "XB_PATIENT" in os.environ:  # whoever runs it ends what hangs
            self.timeout = None
        in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.room = tempfile.mkdtemp(prefix="xb-fault-", dir=in_memory)
        self.numbers = itertools.count(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.room, ignore_errors=True)

    def folder(self, template=None):
        """A new folder, a copy of `template`; times of files are kept."""
        path = os.path.join(self.room, "%d" % next(self.numbers))
        if template:
            shutil.copytree(template, path, symlinks=True)
        else:
            os.mkdir(path)
        return path

    def environment(self, fault=None, report=None, fork=None):
        env = dict(os.environ, ASAN_OPTIONS=ASAN_OPTIONS,
                   LC_ALL="C", XDG_CACHE_HOME=os.path.join(self.room, "cache"))
        env.pop("LD_PRELOAD", None)
        if fault or report or fork:
            env["LD_PRELOAD"] = self.shim
        if fault:
            env["XB_FAULT"] = fault
        if report:
            env["XB_FAULT_REPORT"] = report
        if fork:
            env["XB_FAULT_FORK"] = fork
        return env

    def start(self, args, cwd, fault=None, report=None):
        return subprocess.Popen([self.path] + args, cwd=cwd, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.environment(fault, report))

    def run(self, args, cwd, fault=None, report=None):
        """A run that hangs is ended and said to."""
        process = self.start(args, cwd, fault, report)
        try:
            out, err = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Wrong("did not end within %d s" % self.timeout)
        return Ended(process.returncode, nameless(out, cwd), err, cwd)

    def run_copies(self, args, template, faults):
        """One run, and for each fault a copy of it that suffers it (fork.c): yields (fault,
        Ended), at last (None, Ended) of the run itself. The faults that could not be tried
        so are not among them."""
        room = self.folder()
        shutil.copytree(template, os.path.join(room, "files"), symlinks=True)
        faults = sorted(faults, key=call_of)
        write(self.room, os.path.basename(room) + ".list", "\n".join(faults).encode())
        go, let_go = os.pipe()
        told, tell = os.pipe()
        fork = "%s.list %s %d %d" % (room, room, go, tell)
        with open(os.path.join(room, "out"), "wb") as out, \
                open(os.path.join(room, "err"), "wb") as err:
            process = subprocess.Popen([self.path] + args, cwd=os.path.join(room, "files"),
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       pass_fds=(go, tell), env=self.environment(fork=fork))
        os.close(tell)
        try:
            os.write(let_go, b"." * ROOMS)
            with os.fdopen(told) as lines:
                for line in lines:
                    number, status = map(int, line.split())
                    if status != LEFT:
                        copy = "%s.%d" % (room, number)
                        yield faults[number], ended(copy, os.waitstatus_to_exitcode(status))
                        shutil.rmtree(copy, ignore_errors=True)
                        os.write(let_go, b".")
            yield None, ended(room, process.wait())
        finally:
            process.kill()
            process.wait()
            os.close(go)
            os.close(let_go)
            os.remove(room + ".list")
            shutil.rmtree(room, ignore_errors=True)

    def must(self, args, cwd):
        """A run without faults, which has to work; its stdout."""
        end = self.run(args, cwd)
        if end.status != 0:
            raise Wrong("without a fault: status %d: %s" % (end.status, end.stderr.decode()))
        return end.stdout


class Wrong(Exception):
    """What a run did that it must not do."""


def ended(room, status):
    def text(name):
        with open(os.path.join(room, name), "rb") as stream:
            return stream.read()
    folder = os.path.join(room, "files")
    # what lay in a stream's buffer when the copy was made names the folder of the original
    original = os.path.join(re.sub(r"\.[0-9]+$", "", room), "files")
    out = nameless(nameless(text("out"), folder), original)
    return Ended(status, out, text("err"), folder)


def nameless(out, folder):
    """The demo prints where its page is: each run has a folder of its own."""
    return out.replace(os.path.realpath(folder).encode(), b"FOLDER")


def call_of(fault):
    """Its kind and the call that it is for: the order that fork.c wants."""
    kind, at = fault.split(":")[:2]
    return KINDS.index(kind), int(at)


def files(folder):
    """Every file below a folder: its path there -> its bytes."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as stream:
                found[os.path.relpath(path, folder)] = stream.read()
    return found


def write(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as stream:
        stream.write(data)
