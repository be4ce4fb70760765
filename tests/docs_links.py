#!/usr/bin/env python3
"""docs_links.py SOURCES: do the links of the pages lead anywhere?

Of each Markdown page that git knows: files that links and figures name exist, anchors are
headings of the page they name (as GitHub makes them), and formulas that a link to maths.md
names, as [V50, P7](maths.md), are there. Links to other machines are left alone.
"""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)
HEADING = re.compile(r"^#+ (.*)$", re.M)
FORMULA = re.compile(r"^\*\*([A-Z]\d{1,2})\b", re.M)
LABEL = re.compile(r"\b[A-Z]\d{1,2}\b")


def anchors(text):
    """The anchors of a page's headings: words in small letters, joined by dashes."""
    found = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        words = re.sub(r"[^\w\- ]", "", LINK.sub(r"\1", heading).lower()).replace(" ", "-")
        number, name = 0, words
        while name in found:
            number += 1
            name = f"{words}-{number}"
        found.add(name)
    return found


def broken(page, text, pages, formulas, is_file):
    """A complaint for each link of the page that leads nowhere."""
    for match in LINK.finditer(text):
        words, target = match.groups()
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        place = (page.parent / path) if path else page
        name = pathlib.Path(*pathlib.Path("/", place).resolve().parts[1:])
        line = text[:match.start()].count("\n") + 1
        if not is_file(name):
            yield f"{page}:{line}: {target}: no such file"
        elif anchor and name in pages and anchor not in anchors(pages[name]):
            yield f"{page}:{line}: {target}: no such heading"
        elif name.name == "maths.md":
            for label in LABEL.findall(words):
                if label not in formulas:
                    yield f"{page}:{line}: [{words}]: no formula {label}"


def check_itself():
    """A page with one wrong link of each kind."""
    page = pathlib.Path("docs/a.md")
    text = "[a](#one) [b](#two) [c](no.md) [A1, A2](maths.md)\n## One\n"
    pages = {page: text, pathlib.Path("docs/maths.md"): ""}
    wrong = list(broken(page, text, pages, {"A1"}, pages.__contains__))
    assert len(wrong) == 3, wrong


def main():
    check_itself()
    sources = pathlib.Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "-C", sources, "ls-files", "*.md"], capture_output=True, text=True)
    names = listed.stdout.split() or [str(path.relative_to(sources)) for folder in (".", "docs", "python")
                                      for path in (sources / folder).glob("*.md")]
    pages = {pathlib.Path(name): (sources / name).read_text() for name in names}
    formulas = set(FORMULA.findall(pages[pathlib.Path("docs/maths.md")]))
    complaints = [complaint for page, text in pages.items()
                  for complaint in broken(page, text, pages, formulas, lambda name: (sources / name).exists())]
    links = sum(len(LINK.findall(text)) for text in pages.values())
    print("\n".join(complaints))
    print(f"{links} links of {len(pages)} pages, {len(complaints)} complaints")
    sys.exit(1 if complaints or links < 100 or len(formulas) < 100 else 0)


main()
