"""breakages.py: one-line breakages of the product drawn at random, for mutate.py.

A place is an operator or a constant of a line of code, outside comments, strings and
directives; a breakage replaces it by its neighbour: < by <=, + by -, && by ||, a whole
number by the next, a number with a point by 1.1 times itself. Every place of every
source and header is as likely as any other; the same seed gives the same breakages.
"""
import pathlib
import random
import re

FOLDERS = ("src", "studies", "cli")
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
         "||": "&&", "+=": "-=", "-=": "+=", " + ": " - ", " - ": " + ", " * ": " / ",
         " / ": " * ", "++": "--", "--": "++"}
TOKEN = re.compile(r"""
    (?P<skip> //[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
            | ^[ \t]*\#(?:\\\n|[^\n])* | -> | << | >> | [A-Za-z_]\w* )
  | (?P<swap> <= | >= | == | != | && | \|\| | \+= | -= | \+\+ | --
            | [ ]\+[ ] | [ ]-[ ] | [ ]\*[ ](?=[\w(]) | [ ]/[ ] | (?<=[ ])[<>](?=[ ]) )
  | (?P<number> 0[xX][\dA-Fa-f.]+[pP]?[+-]?\d*\w* | (?:\d+\.\d*|\.?\d+)(?:[eE][+-]?\d+)?\w* )
  """, re.X | re.S | re.M)


def neighbour(number):
    """The constant that takes a constant's place; None: none of its kind."""
    if re.fullmatch(r"\d+", number):
        return str(int(number) + 1)
    if re.fullmatch(r"(?:\d+\.\d*|\d+e[+-]?\d+|\d+\.\d*e[+-]?\d+)", number):
        return repr(float(number) * 1.1)
    return None


def places(text):
    """(start, end, replacement) of each place in a source text."""
    found = []
    for match in TOKEN.finditer(text):
        new = None
        if match["swap"]:
            new = SWAPS[match["swap"]]
        elif match["number"]:
            new = neighbour(match["number"])
        if new is not None:
            found.append((match.start(), match.end(), new))
    return found


def line_at(text, place):
    """The number and the text of the line around a place."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    return text.count("\n", 0, place) + 1, text[start:end if end >= 0 else None].strip()


def broken(root, file, place):
    text = (root / file).read_text()
    start, end, new = place
    changed = text[:start] + new + text[end:]
    number, old_line = line_at(text, start)
    _, new_line = line_at(changed, start)
    return {"name": f"line {number}: {old_line} -> {new_line}", "file": file, "tests": [],
            "old": [old_line], "new": [new_line], "text": changed, "line": number,
            "place": place}


def draw(root, seed):
    """Breakages without end, each place at most once."""
    everywhere = [(str(path.relative_to(root)), place)
                  for folder in FOLDERS for path in sorted((root / folder).rglob("*.[ch]"))
                  for place in places(path.read_text())]
    random.Random(seed).shuffle(everywhere)
    for file, place in everywhere:
        yield broken(root, pathlib.PurePosixPath(file).as_posix(), place)
