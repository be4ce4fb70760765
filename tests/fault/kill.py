"""Kills the program (SIGKILL) at random moments and lets it go on.

    kill.py PROGRAM [--kills N]

Training, studies, building a cache, writing figures. After every kill each file is the one
before or the new one, whole (checkpoints, finished parts and temporary files aside); run
again, the command comes to the very bytes of an undisturbed run. Moments come from a fixed
seed, as shares of the time that run takes. There are 6 kills, 40 with XB_LONG=1, and 200
with XB_LONG=2."""
import argparse
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from cases import JPEG, make_inputs
from program import LONG, Program, Wrong, files, write

KILLS = (6, 40, 200)[LONG]
KILLS_A_RUN = 3  # before it may come to its end

TEMPORARY = (".tmp-", ".figure-")
UNFINISHED = (".checkpoint", ".safetensors")  # of nets; whole, but not the last

TRAIN = ["train", "rows.csv", "--target", "y", "-o", "model.safetensors", "--net",
         "dense 8, relu, dense 1", "--epochs", "40", "--mle-epochs", "40",
         "--checkpoint-seconds", "0", "--history", "trace.csv", "--validation", "0.2",
         "--resume", "-q"]
STUDY = ["study", "--quick", "--format", "svg", "-o", "results", "-q"]
# what is killed, and in how many of 20 kills
SCENES = [
    ("training", TRAIN, 7),
    ("study energy", STUDY + ["energy", "--widths", "1,2", "--depths", "1", "--seeds", "1"],
     4),
    ("study utkface", STUDY + ["utkface", "--data", "synthetic", "--size", "8", "--resume"],
     3),
    ("cache", ["predict", "model.safetensors", "many", "--draws", "2", "-o", "out.csv",
               "--cache", "many.images", "-q"], 3),
    ("figures", STUDY + ["laws", "--noise", "noise.csv"], 3),
]
IMAGES = 400


@dataclass
class Scene:
    name: str
    args: list
    start: str
    made: dict
    seconds: float


def make_many(program, folder):
    """A folder of more images, and a model that takes them."""
    for i in range(IMAGES):
        write(folder, "many/%d_0_0_%d.jpg" % (i % 90 + 1, i), JPEG + b"%d" % i)
    program.must(["train", "faces", "--target", "age", "--size", "32", "--no-cache", "--net",
                  "flatten, dense 1", "--epochs", "1", "--mle-epochs", "1", "-o",
                  "model.safetensors", "-q"], folder)


def prepare(program, name, args, inputs):
    start = program.folder(inputs)
    if name == "cache":
        make_many(program, start)
    done = program.folder(start)
    begun = time.time()
    program.must(args, done)
    seconds = time.time() - begun
    before = files(start)
    made = {n: data for n, data in files(done).items() if before.get(n) != data}
    return Scene(name, args, start, made, seconds)


def is_temporary(name):
    return any(part in name for part in TEMPORARY)


def check_files(scene, folder):
    before = files(scene.start)
    for name, data in files(folder).items():
        if data in (before.get(name), scene.made.get(name)) or is_temporary(name):
            continue
        if not name.endswith(UNFINISHED):
            raise Wrong("%s is neither the old nor the new" % name)


def check_end(program, scene, folder):
    program.must(scene.args, folder)
    there = files(folder)
    for name, data in scene.made.items():
        if there.get(name) != data:
            raise Wrong("in the end %s is not that of an undisturbed run" % name)
    want = files(scene.start).keys() | scene.made.keys()
    for name in there.keys() - want:
        if not is_temporary(name):
            raise Wrong("in the end there is %s" % name)


def kill_once(program, scene, folder, wait):
    """True if the program was still running."""
    process = program.start(scene.args, folder)
    try:
        process.communicate(timeout=wait)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    if process.returncode == 0:
        return False
    if process.returncode != -signal.SIGKILL:
        raise Wrong("status %d before it was killed" % process.returncode)
    check_files(scene, folder)
    return True


def kill_some(program, scene, rng, most):
    """Up to `most` kills of one run, which then comes to its end; how many there were."""
    folder = program.folder(scene.start)
    moments = [rng.uniform(0, scene.seconds) for _ in range(most)]
    kills = 0
    try:
        for wait in moments:
            kills += kill_once(program, scene, folder, wait)
        check_end(program, scene, folder)
    except Wrong as problem:
        raise Wrong("%s, killed after %s s: %s" %
                    (scene.name, ", ".join("%.4f" % w for w in moments), problem))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return kills


def run_scene(program, scene, kills):
    rng, done, runs = random.Random(scene.name), 0, 0
    while done < kills:
        done += kill_some(program, scene, rng, min(KILLS_A_RUN, kills - done))
        runs += 1
    print("%-14s %5.2f s, killed %3d times in %3d runs" %
          (scene.name, scene.seconds, done, runs), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=KILLS)
    a = parser.parse_args()
    with Program(a.program) as program:
        inputs = program.folder()
        make_inputs(program, inputs)
        for name, args, share in SCENES:
            kills = max(1, round(a.kills * share / 20))
            try:
                run_scene(program, prepare(program, name, args, inputs), kills)
            except Wrong as problem:
                print("WRONG " + str(problem))
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
