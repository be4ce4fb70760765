// maths_render.js PAGE.md...: every formula of these pages renders. Formulas are written
// $`...`$ in a line and ```math ... ``` as a block, the two forms that Markdown leaves alone;
// KaTeX parses each one. What KaTeX accepts but GitHub's pages do not is refused as well:
// see `TRAPS`. The first case is the check itself: a page with one flaw per line.
// Exit status: 0 all well, 1 a formula does not render, 77 KaTeX is not installed.
'use strict';
const fs = require('fs');
module.paths.push('/usr/share/nodejs'); // where Debian's package katex is

let katex;
try {
  katex = require('katex');
} catch {
  console.log('skipped: maths_render: no KaTeX (Debian: katex)');
  process.exit(77);
}

// GitHub refuses these macros (they may hide or redefine things) ...
const REFUSED = /\\(operatorname|mbox|phantom|def|newcommand|renewcommand|require|href|color)\b/;
// ... and takes < and > for HTML in some places: \lt and \gt are safe everywhere.
const TRAPS = [
  [REFUSED, 'GitHub refuses this macro'],
  [/[<>]/, 'write \\lt or \\gt'],
];

function flaw(tex, display) {
  for (const [trap, why] of TRAPS)
    if (trap.test(tex)) return why;
  try {
    katex.renderToString(tex, { displayMode: display, strict: 'error' });
  } catch (e) {
    return e.message;
  }
  return null;
}

// A dollar next to a letter or digit is no delimiter for GitHub; a bar ends a table's cell.
function flawsOfLine(line) {
  const found = [];
  const rest = line.replace(/\$`([^`]*)`\$/g, (all, tex, at) => {
    const before = line[at - 1] || ' ', after = line[at + all.length] || ' ';
    if (/[\w\-–]/.test(before) || /[\w\-–'’]/.test(after)) found.push('no space beside ' + all);
    if (line.startsWith('|') && /(^|[^\\])\|/.test(tex)) found.push('a bar inside a table: ' + all);
    const why = flaw(tex, false);
    if (why) found.push(all + ': ' + why);
    return '';
  });
  if (rest.replace(/`[^`]*`/g, '').includes('$')) found.push('a dollar outside of $`...`$');
  return found;
}

// Calls say(line number, flaw) for each; returns how many formulas the page has.
function checkPage(text, say) {
  let fence = null, block = [], start = 0, formulas = 0;
  text.split('\n').forEach((line, i) => {
    const mark = line.match(/^\s*```(\w*)/);
    if (mark && fence === null) {
      [fence, block, start] = [mark[1], [], i + 1];
    } else if (mark) {
      const why = fence === 'math' && flaw(block.join('\n'), true);
      if (why) say(start, why);
      formulas += fence === 'math';
      fence = null;
    } else if (fence !== null) {
      block.push(line);
    } else {
      formulas += (line.match(/\$`[^`]*`\$/g) || []).length;
      flawsOfLine(line).forEach((why) => say(i + 1, why));
    }
  });
  if (fence !== null) say(start, 'a block without an end');
  return formulas;
}

function selfTest() {
  const flawed = ['$`\\frac{1}{`$', 'x$`y`$', '$`y`$th', '$x$', '$`a < b`$', '| $`|x|`$ |',
    '$`\\operatorname{f}`$', '$`\\nosuchmacro`$'];
  const fine = ['($`\\frac12`$), `$HOME` and $`a_b * c_d`$.', '| $`\\lvert x \\rvert`$ |',
    '```sh\necho $x\n```', '```math\n\\sum_k a_k\n```'];
  const noticed = flawed.map(() => 0);
  checkPage(flawed.join('\n'), (line) => noticed[line - 1]++);
  const missed = flawed.filter((_, i) => noticed[i] === 0);
  if (missed.length) throw new Error('flaws not noticed: ' + missed.join(' '));
  checkPage('```math\n\\left( x\n```\n', () => missed.push('block'));
  if (missed.length !== 1) throw new Error('a flawed block is not noticed');
  checkPage(fine.join('\n'), (line, why) => { throw new Error('refused: ' + why); });
}

selfTest();
let flaws = 0, formulas = 0;
for (const path of process.argv.slice(2))
  formulas += checkPage(fs.readFileSync(path, 'utf8'), (line, why) => {
    flaws++;
    console.log(`${path}:${line}: ${why}`);
  });
console.log(`${formulas} formulas, ${flaws} flaws`);
process.exit(flaws || formulas < 100 ? 1 : 0); // it did look
