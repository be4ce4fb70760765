"""Running the program in folders of its own, with or without a fault.

A template is a folder with a command's inputs. Each run gets a copy of it, so that what a
run leaves behind can be compared, byte for byte, with what was there and with what an
undisturbed run makes."""
import itertools
import os
import shutil
import subprocess
import tempfile

ASAN_EXIT = 99
ASAN_OPTIONS = ("verify_asan_link_order=0:allocator_may_return_null=1:detect_leaks=1:"
                "exitcode=%d" % ASAN_EXIT)


class Program:
    """The program, the library that makes calls fail, and a folder for all the rest."""

    def __init__(self, path, shim=None, sanitized=False):
        self.path = os.path.abspath(path)
        self.shim = os.path.abspath(shim) if shim else None
        self.sanitized = sanitized
        self.timeout = 900 if sanitized else 600
        self.room = tempfile.mkdtemp(prefix="xb-fault-")
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

    def environment(self, fault=None, report=None):
        env = dict(os.environ, ASAN_OPTIONS=ASAN_OPTIONS, OPENBLAS_NUM_THREADS="1",
                   LC_ALL="C")
        env.pop("LD_PRELOAD", None)
        if fault or report:
            env["LD_PRELOAD"] = self.shim
        if fault:
            env["XB_FAULT"] = fault
        if report:
            env["XB_FAULT_REPORT"] = report
        return env

    def start(self, args, cwd, fault=None, report=None):
        return subprocess.Popen([self.path] + args, cwd=cwd, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.environment(fault, report))

    def run(self, args, cwd, fault=None, report=None):
        """(exit status, stdout, stderr); a run that hangs is ended and said to."""
        process = self.start(args, cwd, fault, report)
        try:
            out, err = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Wrong("did not end within %d s" % self.timeout)
        return process.returncode, out, err

    def must(self, args, cwd):
        """A run without faults, which has to work; its stdout."""
        status, out, err = self.run(args, cwd)
        if status != 0:
            raise Wrong("without a fault: status %d: %s" % (status, err.decode()))
        return out


class Wrong(Exception):
    """What a run did that it must not do."""


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
