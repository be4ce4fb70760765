"""Writes the names of Python's stable ABI as a .def file of python3.dll.

    python stable_abi.py OUT.def

An import library for Windows needs names alone. They come from abi3info (PyPI), the list that
abi3audit checks wheels against; what is younger than Python 3.9 is left out.
"""

import sys
from typing import Any

from abi3info import DATAS, FUNCTIONS

OLDEST = (3, 9)


def old_enough(item: Any) -> bool:
    return (item.added.major, item.added.minor) <= OLDEST


def main() -> None:
    functions = sorted(s.name for s, f in FUNCTIONS.items() if old_enough(f))
    data = sorted(s.name for s, d in DATAS.items() if old_enough(d))
    lines = ["LIBRARY python3.dll", "EXPORTS", *functions, *(f"{name} DATA" for name in data)]
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
