"""The commands that are run with faults: every command's main path, as small as it gets.

A case's folder has the inputs below. `leaves` are the endings of files that a stopped run may
leave on purpose: checkpoints and finished parts, from which the same command must come to the
bytes of an undisturbed run."""
import base64
import os
import struct
from dataclasses import dataclass

from program import write

# 8 x 8 pixels, grey; bytes behind its end make files of other content
JPEG = base64.b64decode("""
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZG
NywtQFdBRkxOUlNSMj5aYVpQYEpRUk//wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABf/EABcQAQAD
AAAAAAAAAAAAAAAAAAUAIjL/2gAIAQEAAD8ANHCzSf/Z""")

NET = ["--net", "dense 3, relu, dense 1", "--epochs", "2", "--mle-epochs", "2"]
TRAIN = ["train", "rows.csv", "--target", "y", "-o", "model.safetensors"] + NET
IMAGE_NET = ["--net", "conv 2 3x3, relu, maxpool 2, flatten, dense 1", "--epochs", "1",
             "--mle-epochs", "1"]
STUDY = ["study", "--quick", "--format", "svg", "-o", "results"]
SMALL = ["--widths", "1", "--depths", "1", "--seeds", "1"]


@dataclass
class Case:
    name: str
    args: list
    leaves: tuple = ()
    prepare: tuple = ()  # commands whose files are inputs too
    slow: bool = False   # a tenth of a second or more: fewer faults
    reads: tuple = ("",) # endings of the files that a later run may go on from
    discards: str = "\0" # older files below this may be gone: unfinished work of others
    heavy: bool = False  # half a second or more: XB_LONG=1 only

    @property
    def marks(self):
        """Files that tell of all others: the older one goes before results are replaced."""
        return {"demo": ("/report.html",),
                "reproduce": ("/index.html", "/claims.json", "/stamp.json"),
                "study": tuple("results/%s.%s" % (a, end) for a in self.args
                               for end in ("json", "html"))}.get(
                    self.args[0] if self.args else "", ())


def case(name, *args, threads=1, **more):
    return Case(name, [*args, "-q", "--threads", str(threads)], **more)


def resumed(name, *args, **more):
    """Training: a stopped run leaves its checkpoint, and goes on from it."""
    leaves = (".checkpoint",) + more.pop("leaves", ())
    return case(name, *args, "--resume", leaves=leaves, **more)


MODEL = (TRAIN + ["-q"],)
SHARE = ["predict", "model.safetensors", "rows.csv", "--draws", "20", "-o",
         "predicted.csv", "-q", "--share"]
CASES = [
    Case("commands", []),
    Case("version", ["--version"]),
    Case("help", ["help", "study"]),
    case("completion-bash", "completion", "bash"),
    case("completion-zsh", "completion", "zsh"),
    case("completion-json", "completion", "zsh", "--json"),
    case("manual", "manual"),
    case("manual-command", "manual", "train"),
    case("law", "law", "mtj:B=0.15,w=0.5", "--quantile", "0.1,0.5", "--cdf", "0.3", "--pdf",
         "0.1", "--rule", "5", "--json"),
    case("sample-csv", "sample", "mtj:B=0.15,w=0.5", "-n", "300", "-o", "draws.csv"),
    case("sample-npy", "sample", "ecram:B=0.1,w=0.6", "-n", "300", "-o", "draws.npy"),
    case("fit", "fit", "noise.csv", "-o", "law.json", "--json"),
    case("fit-empirical", "fit", "noise.csv", "-o", "law.json", "--family", "empirical"),
    case("fit-figure", "fit", "noise.csv", "--family", "gaussian", "--figure",
         "figures.svg", slow=True),
    case("law-file", "law", "law.json", "--rule", "5", "--quantile", "0.3",
         prepare=(["fit", "noise.csv", "-o", "law.json", "--family", "empirical", "-q"],)),
    resumed("train", *TRAIN, "--history", "trace.csv", "--json"),
    resumed("train-checkpoints", *TRAIN, "--law", "mtj", "--checkpoint-seconds", "0",
            "--validation", "0.2", "--patience", "1"),
    resumed("train-classes", "train", "classes.csv", "--target", "y", "--classes", "-o",
            "model.safetensors", "--net", "dense 2", "--epochs", "1", "--mle-epochs", "1",
            "--estimator", "shared", "--prior", "laplace:b=1", "--sigma-transform", "softplus"),
    resumed("train-idx", "train", "digits-idx3-ubyte", "--labels", "digits-idx1-ubyte", "-o",
            "model.safetensors", "--net", "flatten, dense 2", "--epochs", "1",
            "--mle-epochs", "1"),
    resumed("train-folder", "train", "faces", "--target", "age", "--size", "8", "-o",
            "model.safetensors", *IMAGE_NET, "--skip-corrupt", "--cache", "faces.images",
            leaves=(".images",)),
    resumed("train-threads", "train", "faces", "--target", "age", "--grey", "-o",
            "model.safetensors", "--net", "flatten, dense 1", "--epochs", "1",
            "--mle-epochs", "1", "--cache", "grey.images", leaves=(".images",), threads=2),
    case("predict", "predict", "model.safetensors", "rows.csv", "--draws", "20", "-o",
         "predicted.csv", prepare=MODEL),
    case("predict-share", "predict", "model.safetensors", "rows.csv", "--draws", "20", "-o",
         "predicted.csv", "--share", "1/2", prepare=MODEL),
    case("merge", "merge", "predicted.csv.1-of-2.share", "predicted.csv.2-of-2.share",
         prepare=(*MODEL, *([*SHARE, "%d/2" % k] for k in (1, 2)))),
    case("predict-json", "predict", "model.safetensors", "rows.csv", "--draws", "20",
         "--json", prepare=MODEL),
    case("eval", "eval", "model.safetensors", "rows.csv", "--draws", "20", "--law",
         "gaussian", "--law", "mtj", "--json", prepare=MODEL),
    case("plan", "plan", "mtj", "--model", "model.safetensors", "--data", "rows.csv",
         "--draws", "1000", "--rows", "1", "--json", prepare=MODEL, heavy=True),
    case("plan-net", "plan", "bimodal", "--net", "dense 2, elu, dense 1", "--draws", "1000",
         heavy=True),
    case("crossbar", "crossbar", "model.safetensors", "rows.csv", "--reads", "10", "--json",
         prepare=MODEL),
    case("crossbar-export", "crossbar", "model.safetensors", "rows.csv", "--reads", "10",
         "--export", "export", prepare=MODEL),
    case("crossbar-sweep", "crossbar", "model.safetensors", "rows.csv", "--reads", "10",
         "--sweep", "adc_bits=4:5", "-o", "sweep", "--format", "svg", prepare=MODEL,
         slow=True),
    case("study-laws", *STUDY, "laws", "--noise", "noise.csv", slow=True),
    case("study-quadrature", *STUDY, "quadrature", heavy=True),
    case("study-quantile", *STUDY, "quantile", slow=True),
    case("study-energy", *STUDY, "energy", *SMALL, leaves=(".safetensors",), slow=True),
    case("study-narrow", *STUDY, "narrow", *SMALL, leaves=(".safetensors",), slow=True),
    case("study-scalar", *STUDY, "scalar", heavy=True),
    case("study-array", *STUDY, "array", "--data", "table.csv", heavy=True),
    case("study-utkface", *STUDY, "utkface", "--data", "synthetic", "--size", "8",
         "--resume", leaves=(".checkpoint",), slow=True),
    case("reproduce", "reproduce", "--quick", "--only", "1", "--format", "svg", "-o",
         "paper", slow=True),
    case("reproduce-nets", "reproduce", "--quick", "--only", "4", "--format", "svg", "-o",
         "paper", leaves=(".safetensors",), discards="paper/nets/", heavy=True),
    case("reproduce-faces", "reproduce", "--quick", "--only", "6", "--format", "svg", "-o",
         "paper", leaves=(".checkpoint",), heavy=True),
    case("reproduce-work", "reproduce", "--quick", "--only", "8", "--format", "svg", "-o",
         "paper", prepare=(["reproduce", "--quick", "--only", "4", "-o", "paper", "-q"],),
         heavy=True),
    case("demo", "demo", "--noise", "noise.csv", "-o", "demo", leaves=(".safetensors",),
         reads=(".safetensors",), heavy=True),
]


def make_inputs(program, folder):
    """The files that commands read."""
    write(folder, "rows.csv",
          b"x,y\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(20)))
    write(folder, "table.csv",
          b"x,y\n" + b"".join(b"%d,%d\n" % (i, i % 7) for i in range(60)))
    write(folder, "classes.csv",
          b"x,y\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(12)))
    for i in range(12):
        write(folder, "faces/%d_0_0_2017.jpg" % (20 + i), JPEG + b"%d" % i)
    for i, name in enumerate(sorted(os.listdir(os.path.join(folder, "faces")))):
        os.utime(os.path.join(folder, "faces", name), ns=(i, i))
    pixels = bytes((7 * i) % 256 for i in range(12 * 4 * 4))
    write(folder, "digits-idx3-ubyte", struct.pack(">4I", 0x803, 12, 4, 4) + pixels)
    write(folder, "digits-idx1-ubyte",
          struct.pack(">2I", 0x801, 12) + bytes(i % 2 for i in range(12)))
    program.must(["sample", "mtj:B=0.15,w=0.5", "-n", "60", "-o", "noise.csv"], folder)
