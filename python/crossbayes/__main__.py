"""``python -m crossbayes``: models of other libraries from the command line.

    python -m crossbayes import net.pt --net "dense 20, relu, dense 1" --inputs 8 \
        --noise-sd 0.3 -o model.safetensors

Errors are one line, exit status 2, and nothing is written.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

import crossbayes as xb
from crossbayes._native import lib

_HELP = {
    "net": "text of the layers, for files that hold weights alone",
    "inputs": "number of inputs, or height,width,channels",
    "classes": "names of the classes, with commas; the outputs are logits",
    "noise-sd": "standard deviation of the data's noise, in the target's units",
    "law": "noise law of the weights [gaussian]",
    "prior": "prior of the weights, which files do not contain [normal:sd=1]",
    "target": "name of the target [y]",
    "ignore": "sites of a Pyro or NumPyro guide that are not weights, with commas",
    "order": "order of the sides of a guide's kernels: in,out or out,in",
    "order-of-layers": "names of a Keras file's layers in order, with commas",
}


_EXAMPLE = """example:
  python -m crossbayes import net.pt --net "dense 20, relu, dense 1" --inputs 8 \\
      --noise-sd 0.3 -o model.safetensors"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m crossbayes",
        description="Models of other libraries as model files.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("import", help="a model from another library's file")
    kinds = "file of another library: .pt, .safetensors, .npz, .h5 or .keras"
    one.add_argument("file", metavar="FILE", help=kinds)
    one.add_argument(
        "-o", dest="out", required=True, metavar="MODEL.safetensors", help="model file to write"
    )
    for name, words in _HELP.items():
        one.add_argument(f"--{name}", help=words)
    return parser


def _names(words: str | None) -> list[str] | None:
    return None if words is None else [word.strip() for word in words.split(",")]


def _inputs(words: str) -> Any:
    try:
        sides = [int(word) for word in words.split(",")]
    except ValueError:
        raise ValueError(
            f"--inputs {words}: expected a number, or height,width,channels"
        ) from None
    return sides[0] if len(sides) == 1 else tuple(sides)


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    given = {
        "net": args.net,
        "inputs": None if args.inputs is None else _inputs(args.inputs),
        "classes": _names(args.classes),
        "noise_std": None if args.noise_sd is None else _number(args.noise_sd),
        "law": args.law,
        "prior": args.prior,
        "target": args.target,
        "ignore": _names(args.ignore),
        "order": args.order or _names(args.order_of_layers),
    }
    return {name: value for name, value in given.items() if value is not None}


def _number(words: str) -> float:
    try:
        return float(words)
    except ValueError:
        raise ValueError(f"--noise-sd {words}: expected a number") from None


def _import(args: argparse.Namespace) -> None:
    both = os.path.exists(args.out) and os.path.exists(args.file)
    if both and os.path.samefile(args.out, args.file):
        raise ValueError(f"{args.out}: is the input itself; name another file after -o")
    model = xb.import_file(args.file, **_settings(args))
    model.save(args.out)
    net = lib.xb_model_net(model._c)
    random, all_ = lib.xb_net_stochastic_count(net), lib.xb_net_param_count(net)
    library = model.provenance.get("imported_from", "arrays")
    print(
        f"{args.out}: {model.net}; {all_} weights, {random} of them random, from {library}",
        file=sys.stderr,
    )


def _said(error: Exception) -> str:
    """One line; Python puts the number of a missing file's error first."""
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: no such file"
    return str(error)


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    try:
        _import(args)
    except (xb.Error, ValueError, TypeError, ImportError, OSError) as error:
        print(f"crossbayes: {_said(error)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
