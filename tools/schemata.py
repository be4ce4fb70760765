"""schemata.py: many breakages in one build, of which each run switches one on; for mutate.py.

A breakage is compiled beside what it replaces: `a < b` becomes `XB_SWITCH_AT(7, a < b, a <= b)`,
and XB_MUTANT=7 in the environment takes the second form. So all breakages are compiled and
linked once. With XB_MUTANT_SEEN=FILE a run takes no breakage and notes in byte 7 of FILE
whether it came to the place (1), and whether both forms ever differed there (2): a test where
they never differ cannot notice the breakage and need not run.

Constants of tables, enums and array sizes cannot be chosen at run time: their files do not
compile like this. For these only the functions of the files that use them note that they
ran, and mutate.py builds the breakage by itself.
"""
import re

# One place behind its number. Both forms are evaluated only where neither can fail.
HEADER = r"""
#ifndef XB_SCHEMATA
#define XB_SCHEMATA
extern int xb_mutant;
extern volatile unsigned char *xb_mutant_seen;
#define XB_SWITCH_NOTE(k, how) (xb_mutant_seen ? (void)(xb_mutant_seen[k] |= (how)) : (void)0)
#define XB_SWITCH_AT(k, was, now) (xb_mutant == (k) ? (now) : (XB_SWITCH_NOTE(k, 3), (was)))
#define XB_SWITCH_BOTH(k, was, now) (xb_mutant == (k) ? (now) : __extension__({ \
    __auto_type xb_was = (was); \
    if (xb_mutant_seen) XB_SWITCH_NOTE(k, xb_was != (now) ? 3 : 1); \
    xb_was; }))
#define XB_SWITCH_TRUTH(k, was, now, same) (xb_mutant == (k) ? (now) : __extension__({ \
    int xb_was = (was) ? 1 : 0; \
    XB_SWITCH_NOTE(k, xb_was == (same) ? 1 : 3); \
    xb_was; }))
#endif
"""
RUNTIME = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int xb_mutant;
volatile unsigned char *xb_mutant_seen;
__attribute__((constructor)) static void choose(void)
{
    const char *number = getenv("XB_MUTANT"), *path = getenv("XB_MUTANT_SEEN");
    if (number) xb_mutant = atoi(number);
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    void *seen = mmap(NULL, %d, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (seen != MAP_FAILED) xb_mutant_seen = seen;
    close(file);
}
"""
TOKEN = re.compile(r"""
    (?P<space> \s+ | //[^\n]* | /\*.*?\*/ )
  | (?P<directive> ^[ \t]*\#(?:\\\n|[^\n])* )
  | (?P<word> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | [A-Za-z_]\w*
            | 0[xX][\dA-Fa-f.]+[pP]?[+-]?\d*\w* | (?:\d+\.\d*|\.?\d+)(?:[eE][+-]?\d+)?\w* )
  | (?P<mark> <<= | >>= | \.\.\. | -> | \+\+ | -- | << | >> | <= | >= | == | != | && | \|\|
            | [-+*/%&|^]= | . )
  """, re.X | re.S | re.M)
RANK = {"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7,
        ">=": 7, "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
BEFORE_UNARY = {"return", "case", "sizeof", "else", "do"}


class Tokens:
    """A text's tokens, [(start, end, text)], without spaces."""

    def __init__(self, text):
        self.text = text
        self.all = [(m.start(), m.end(), ";" if m["directive"] else m[0])
                    for m in TOKEN.finditer(text) if not m["space"]]
        self.at = {start: i for i, (start, _, _) in enumerate(self.all)}

    def __getitem__(self, i):
        return self.all[i][2] if 0 <= i < len(self.all) else ";"

    def partner(self, i, step):
        """The bracket that belongs to the one at i."""
        here, depth = self[i], 0
        there = (OPEN if step > 0 else CLOSE)[here]
        while 0 <= i < len(self.all):
            depth += (self[i] == here) - (self[i] == there)
            if depth == 0:
                return i
            i += step
        return None

    def is_binary(self, i):
        """An operator with an operand before it, or the end of one."""
        if self[i] not in RANK:
            return False
        before = self[i - 1]
        return before in (")", "]") or (re.match(r"[\w\"'.]", before) is not None
                                        and before not in BEFORE_UNARY)

    def ends_left(self, i, rank):
        t = self[i]
        if t in OPEN or t in ASSIGN or t in (";", ",", "?", ":", "}", "return", "case", "else"):
            return True
        return self.is_binary(i) and RANK[t] < rank

    def left(self, i, rank):
        """The first token of the operand that ends before token i."""
        j = i - 1
        while not self.ends_left(j, rank):
            if self[j] in (")", "]"):
                j = self.partner(j, -1)
            j -= 1
        return j + 1

    def right(self, i, rank):
        """The last token of the operand that begins after token i."""
        j = i + 1
        while True:
            t = self[j]
            if t in CLOSE or t in (";", ",", "?", ":") or (
                    j > i + 1 and (t in ASSIGN or self.is_binary(j) and RANK[t] <= rank)):
                return j - 1
            if t in ("(", "[", "{"):
                j = self.partner(j, 1)
            j += 1


def is_pure(text):
    """True if evaluating it a second time changes nothing."""
    return not re.search(r"\+\+|--|[-+*/%&|^]=|(?<![=!<>])=(?!=)|\w\s*\(", text)


def chosen(tokens, place, number):
    """(start, end, text) of the expression with both forms, or None."""
    text, (start, end, new) = tokens.text, place
    old = text[start:end].strip()
    i = tokens.at.get(start + (text[start] == " "))
    if i is None:
        return None
    if old[0].isdigit() or old[0] == ".":
        return start, end, f"XB_SWITCH_AT({number}, {old}, {new})"
    if old in ("++", "--"):
        first, last = i, i
        if re.match(r"[\w)\]]", tokens[i - 1]) and tokens[i - 1] not in BEFORE_UNARY:
            first = postfix_start(tokens, i - 1)
        else:
            last = tokens.right(i, 11)
        form = "XB_SWITCH_AT"
    elif old in ("+=", "-="):
        first, last, form = postfix_start(tokens, i - 1), assigned_end(tokens, i), "XB_SWITCH_AT"
        while tokens[first - 1] == "*" and not tokens.is_binary(first - 1):
            first -= 1
    else:
        if not tokens.is_binary(i):
            return None
        rank = min(RANK[old], RANK[new.strip()])  # both forms are whole within this
        first, last = tokens.left(i, rank), tokens.right(i, rank)
        form = "XB_SWITCH_BOTH"
    lo, hi = tokens.all[first][0], tokens.all[last][1]
    was, now = text[lo:hi], text[lo:start] + new + text[end:hi]
    if old in ("&&", "||"):
        return lo, hi, f"XB_SWITCH_TRUTH({number}, ({was}), ({now}), {1 if old == '&&' else 0})"
    if form == "XB_SWITCH_BOTH" and (old == "*" or not is_pure(was)):
        form = "XB_SWITCH_AT"
    return lo, hi, f"{form}({number}, ({was}), ({now}))"


def postfix_start(tokens, j):
    """The first token of the name, member or element that ends at token j."""
    while True:
        if tokens[j] in (")", "]"):
            j = tokens.partner(j, -1)
            if tokens[j - 1] in (")", "]") or re.match(r"\w", tokens[j - 1]):
                j -= 1
                continue
            return j
        if tokens[j - 1] in (".", "->"):
            j -= 2
            continue
        return j


def assigned_end(tokens, i):
    """The last token of what is assigned at token i."""
    j = i + 1
    while tokens[j] not in CLOSE and tokens[j] not in (";", ","):
        if tokens[j] in OPEN:
            j = tokens.partner(j, 1)
        j += 1
    return j - 1


def with_breakages(text, places):
    """The text with all breakages, {number: place}; those that overlap are left out: (text, set
    of numbers that are in it)."""
    tokens, parts, done = Tokens(text), [], set()
    found = sorted((part, number) for number, place in places.items()
                   if (part := chosen(tokens, place, number)))
    last = 0
    for (lo, hi, new), number in found:
        if lo < last:
            continue
        parts += [text[last:lo], new]
        last = hi
        done.add(number)
    return "".join(parts) + text[last:], done


def with_notes(text, numbers):
    """The text where each function notes that it ran."""
    notes = " ".join(f"XB_SWITCH_NOTE({number}, 3);" for number in sorted(numbers))
    return re.sub(r"(?<=\)\n)\{$", "{ " + notes, text, flags=re.M)
