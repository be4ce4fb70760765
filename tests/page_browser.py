#!/usr/bin/env python3
"""Pages in headless Chromium: no console messages, no requests but the page itself, no
overflow and nothing cut at 400 and 1400 px, in light, dark and print; a headline that
agrees with what was found.

    page_browser.py [--shots DIR] PAGE.html...
    page_browser.py --self-test    pages with one flaw each: is every flaw noticed?

Speaks the DevTools protocol over a pipe, so it needs nothing but Python and Chromium.
Exit status: 0 all well, 1 something is not, 77 no browser.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from urllib.parse import unquote

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (400, 1400)
LOOKS = (("screen", "light"), ("screen", "dark"), ("print", "light"))
SKIPPED = 77

# What sticks out to the right of the page, but for boxes that scroll by themselves.
OVERFLOW = """(() => {
  const root = document.documentElement, found = [];
  if (root.scrollWidth > root.clientWidth)
    found.push('the page is ' + root.scrollWidth + ' px wide');
  for (const e of document.body.querySelectorAll('*')) {
    if (e.closest('.picture, .wide, .command')?.contains(e) &&
        !e.matches('.picture, .wide, .command')) continue;
    if (e.getBoundingClientRect().right > root.clientWidth + 1)
      found.push('<' + e.tagName.toLowerCase() + ' class="' + e.className + '"> ends at ' +
                 e.getBoundingClientRect().right);
  }
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  for (const id of ids.filter((id, i) => ids.indexOf(id) !== i)) found.push('two ' + id);
  for (const e of document.querySelectorAll('svg'))
    if (e.getBoundingClientRect().height < 50) found.push('a figure without height');
  if (document.querySelectorAll('svg').length === 0) found.push('no figure');
  return found;
})()"""

# What a reader cannot see: text cut by its box, letters outside of their figure, and what
# must be scrolled to without a word or a shadow that says so.
CUT = """(() => {
  const found = [], print = matchMedia('print').matches;
  const shown = e => e.getClientRects().length > 0;
  const name = e => '<' + e.tagName.toLowerCase() + ' class="' +
    (e.className.baseVal ?? e.className) + '">';
  for (const e of document.body.querySelectorAll('*')) {
    if (e.closest('svg') || !shown(e) || e.scrollWidth <= e.clientWidth + 1 ||
        e.clientWidth === 0) continue;
    const style = getComputedStyle(e), scrolls = /auto|scroll/.test(style.overflowX);
    if (style.overflowX === 'visible' && !print) continue;
    const hint = e.previousElementSibling;
    const told = (hint?.matches('.hint') && shown(hint)) || style.backgroundImage !== 'none';
    if (print && e.matches('.picture, .wide, .command'))
      found.push(name(e) + ' is cut on paper');
    else if (!print && !scrolls) found.push(name(e) + ' is cut');
    else if (!print && !told) found.push(name(e) + ' scrolls without a hint');
  }
  for (const text of document.querySelectorAll('svg text')) {
    const a = text.getBoundingClientRect();
    const b = text.ownerSVGElement.getBoundingClientRect();
    if (a.width > 0 && (a.left < b.left - 1 || a.right > b.right + 1 ||
                        a.top < b.top - 1 || a.bottom > b.bottom + 1))
      found.push('a figure cuts the text "' + text.textContent.trim() + '"');
  }
  return found;
})()"""

# A verdict in one sentence with a number, first on the page; the list of findings has it.
HEADLINE = """(() => {
  const all = document.querySelectorAll('.headline'), first = document.querySelector('h1');
  if (all.length !== 1) return [all.length + ' headlines'];
  const found = [], line = all[0], plain = t => t.replace(/ \\([^)]*\\)(?!e)/g, '');
  const word = line.querySelector('.badge').textContent;
  const says = line.textContent.slice(word.length).trim().replace(/[.]$/, '');
  if (first.nextElementSibling !== line) found.push('the headline is not below the title');
  if (!/[0-9]/.test(says)) found.push('a headline without a number');
  const verdicts = [...document.querySelectorAll('nav .verdict')].map(
    e => plain(e.textContent));
  const whole = document.querySelector('main .intro')?.textContent ?? '';
  if (!verdicts.some(v => v.startsWith(word) && v.includes(says)) && !whole.includes(says))
    found.push('the headline is none of the findings: ' + says);
  return found;
})()"""


class Browser:
    def __init__(self, program, folder):
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        command = [program, "--headless", "--disable-gpu", "--hide-scrollbars",
                   "--remote-debugging-pipe", "--user-data-dir=" + folder]
        if os.geteuid() == 0:
            command.append("--no-sandbox")

        def place():  # the browser reads 3 and writes 4
            high_read, high_write = os.dup2(to_read, 100), os.dup2(to_write, 101)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        self.process = subprocess.Popen(command, preexec_fn=place, close_fds=False,
                                        stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.back, 1 << 16)
            if not part:
                raise RuntimeError("the browser went away")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.receive())

    def open(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait()


def complaints(events, address):
    for event in events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Log.entryAdded":
            yield "console: " + params["entry"]["text"]
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            yield "console: " + json.dumps(params)[:200]
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if unquote(url) != unquote(address) and not url.startswith("data:"):
                yield "request: " + url


def look(browser, address, width, medium, scheme):
    browser.events = []
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=False)
    browser.call("Emulation.setEmulatedMedia", media=medium,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Page.navigate", url=address)
    browser.wait_for("Page.loadEventFired")
    for check_text in (OVERFLOW, CUT, HEADLINE):
        found = browser.call("Runtime.evaluate", expression=check_text, returnByValue=True)
        if "value" not in found["result"]:
            yield "the check itself failed: " + json.dumps(found)[:300]
        else:
            yield from found["result"]["value"]
    yield from complaints(browser.events, address)


def shoot(browser, path):
    shot = browser.call("Page.captureScreenshot", captureBeyondViewport=True)
    with open(path, "wb") as f:
        f.write(base64.b64decode(shot["data"]))


def check(browser, page, shots):
    address, bad = "file://" + os.path.abspath(page), 0
    for width in WIDTHS:
        for medium, scheme in LOOKS:
            for complaint in look(browser, address, width, medium, scheme):
                print(f"{page}, {width} px, {medium}, {scheme}: {complaint}")
                bad += 1
            if shots:
                name = os.path.splitext(os.path.basename(page))[0]
                shoot(browser, f"{shots}/{name}_{width}_{medium}_{scheme}.png")
    return bad


FIGURE = ('<p class="hint">wide</p><div class="picture"><svg width="300" height="99">'
          '<text x="9" y="50">a</text></svg></div>')
FLAWS = (  # what is put in, what must be said of it; the first page has none
    ("", None),
    ('<div style="width: 99px; overflow: hidden; white-space: nowrap">words that are long'
     ' enough</div>', "is cut"),
    ('<pre class="command" style="width: 99px; overflow-x: auto">words that are long'
     ' enough</pre>', "scrolls without a hint"),
    ('<svg width="99" height="99"><text x="80" y="50">an axis</text></svg>', "cuts the text"),
    ('<div style="width: 9000px">.</div>', "px wide"),
    ('<p class="headline"><span class="badge">b</span> 2.</p>', "2 headlines"),
)


def self_test(browser, folder):
    """Returns how many flaws were not noticed, or noticed where there is none."""
    bad = 0
    for flaw, expected in FLAWS:
        page = os.path.join(folder, "flaw.html")
        with open(page, "w", encoding="utf-8") as f:
            f.write('<!DOCTYPE html><meta charset="utf-8"/><link rel="icon" href="data:,"/>'
                    '<h1>A page</h1>\n<p class="headline"><span class="badge">same</span>'
                    ' It is 3 nats.</p><nav><p class="verdict"><span class="badge">same'
                    '</span> It is 3 nats (of 4).</p></nav><main>' + FIGURE + flaw +
                    "</main>")
        said = list(look(browser, "file://" + page, 400, "screen", "light"))
        good = not said if expected is None else any(expected in s for s in said)
        if not good:
            print(f"expected {expected!r}, said: {said}")
            bad += 1
    return bad


def main(pages):
    shots = None
    if len(pages) > 1 and pages[0] == "--shots":
        shots, pages = pages[1], pages[2:]
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not program:
        print("skipped: no browser (tools/install-deps.sh browser)")
        return SKIPPED
    if not pages:
        print(__doc__)
        return 1
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, folder)
        try:
            browser.open()
            if pages == ["--self-test"]:
                return 1 if self_test(browser, folder) else 0
            bad = sum(check(browser, page, shots) for page in pages)
        finally:
            browser.close()
    print(f"{len(pages)} pages, {len(WIDTHS) * len(LOOKS)} looks each: {bad} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
