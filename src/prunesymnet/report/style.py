"""How the page looks, and the little it does: a button that copies."""

CSS = """
:root {
  color-scheme: light dark;
  --page: #f6f6f4; --card: #ffffff; --ink: #222222; --soft: #5c5f63; --grey: #8a8a8a; --pale: #d4d4d4;
  --line: #e4e4e0; --blue: #0072b2; --orange: #d55e00; --wash: #eef4f8;
  --input: #cfe8df; --binary: #d6e6f4; --unary: #fbe6c8; --output: #e9d8e6;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #141618; --card: #1c1f22; --ink: #e7e8ea; --soft: #a9aeb4; --grey: #858b92; --pale: #3a3f45;
    --line: #2c3136; --blue: #5ab0e4; --orange: #f08a3c; --wash: #20303b;
    --input: #24483c; --binary: #24405a; --unary: #57411c; --output: #4b3548;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 3rem; }
svg { stroke-linejoin: round; stroke-linecap: butt; }
.shapes { position: absolute; width: 0; height: 0; }
h1, h2, h3 { line-height: 1.2; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
h1 { font-size: 2rem; letter-spacing: -0.015em; }
h2 { font-size: 1.6rem; letter-spacing: -0.01em; }
h3 { font-size: 1.1rem; margin: 2.4rem 0 0.7rem; }
p { margin: 0.5rem 0; }
a { color: var(--blue); }
.over { color: var(--soft); font-size: 0.85rem; margin: 0 0 0.5rem; }
.lead { color: var(--soft); max-width: 54rem; }
.say { color: var(--soft); font-size: 0.9rem; max-width: 50rem; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem; min-width: 0;
}
.scroll { overflow-x: auto; overscroll-behavior-x: contain; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
code { font-size: 0.88em; overflow-wrap: anywhere; }

.law { padding: 0; margin-top: 1.2rem; }
.law .scroll { padding: 1.7rem 1.4rem; text-align: center; }
.formula { display: inline-block; vertical-align: middle; height: auto; }
.law { font-size: 16px; }
.named { font-size: 12.5px; padding: 0.3rem 0 0.9rem; }
.name .formula { font-size: 11px; }
.law .plain { font-size: 1.05rem; white-space: nowrap; }
.ways { border-top: 1px solid var(--line); }
.ways details { border-top: 1px solid var(--line); }
.ways details:first-child { border-top: 0; }
summary { cursor: pointer; padding: 0.6rem 1.1rem; color: var(--soft); font-size: 0.9rem; }
summary:hover { color: var(--ink); }
.way { position: relative; padding: 0 1.1rem 0.9rem; }
pre {
  margin: 0; padding: 0.8rem 0.9rem; background: var(--page); border-radius: 7px; font-size: 0.82rem; line-height: 1.5;
  overflow-x: auto; max-height: 22rem;
}
button {
  position: absolute; top: 0.4rem; right: 1.5rem; font: inherit; font-size: 0.8rem; color: var(--ink); cursor: pointer;
  background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.15rem 0.6rem;
}
button:hover { border-color: var(--grey); }

.keys { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0.8rem; margin: 0.8rem 0 0; }
.keys > div { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 0.8rem 1rem; }
.keys dt { color: var(--soft); font-size: 0.85rem; }
.keys dd { margin: 0; }
.keys .value { font-size: 1.45rem; font-weight: 600; line-height: 1.35; font-variant-numeric: tabular-nums; }
.keys .value sup { font-size: 0.6em; line-height: 0; }
.keys .sub { color: var(--soft); font-size: 0.8rem; line-height: 1.35; }

table { border-collapse: collapse; width: 100%; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; color: var(--soft); padding: 0.35rem 0.9rem 0.5rem 0; vertical-align: bottom; }
td { padding: 0.42rem 0.9rem 0.42rem 0; border-top: 1px solid var(--line); vertical-align: top; }
th.n, td.n { text-align: right; white-space: nowrap; }
td.name { white-space: nowrap; }
td sup { line-height: 0; }
.front td:first-child, .front th:first-child { padding-left: 0.7rem; }
.front td:last-child { min-width: 17rem; }
.front .chosen td { background: var(--wash); }
.front .chosen td:first-child { box-shadow: inset 3px 0 0 var(--orange); }
.badge { color: var(--orange); font-size: 0.8rem; font-weight: 600; margin-left: 0.5rem; white-space: nowrap; }

figure { margin: 0; }
figure svg, figure img { display: block; width: 100%; height: auto; }
figure img.pixels { background: #ffffff; border-radius: 6px; }
figcaption { color: var(--soft); font-size: 0.85rem; line-height: 1.45; margin-top: 0.6rem; }
.two { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 0.8rem; }
.beside { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 1.5rem; align-items: center; }
.beside + .card { margin-top: 0.8rem; }
.lines { display: inline-block; font-size: 0.85rem; }
.key { display: inline-block; width: 1.1em; height: 0.2em; vertical-align: 0.25em; border-radius: 1px; }

nav ol { list-style: none; margin: 1.2rem 0 0; padding: 0; }
nav li { border-top: 1px solid var(--line); }
nav a { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; padding: 0.5rem 0; text-decoration: none; color: inherit; }
nav a:hover b { text-decoration: underline; }
nav b { font-weight: 600; color: var(--blue); }
nav code { color: var(--soft); }
section.target { margin-top: 3.2rem; padding-top: 2rem; border-top: 2px solid var(--line); }
section.target:first-of-type, section.only { margin-top: 1.6rem; }
section.only { border-top: 0; padding-top: 0; }
details.box { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin-top: 0.8rem; }
details.box > div { padding: 0 1.1rem 1rem; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: 0.85rem; }

@media (max-width: 46rem) {
  main { padding: 1.5rem 1rem 2rem; }
  h1 { font-size: 1.6rem; }
  .keys { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .keys .value { font-size: 1.25rem; }
  .beside { grid-template-columns: minmax(0, 1fr); gap: 0.6rem; }
  .card { padding: 0.8rem; }
  .law { padding: 0; font-size: 13px; }
  .law .scroll { padding: 1.3rem 1rem; }
  .constants .n { white-space: normal; }
  .front tr:first-child { display: none; }
  .front tr { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: 0.6rem 0; border-top: 1px solid var(--line); }
  .front tr:nth-child(2) { border-top: 0; }
  .front td, .front td:first-child { border: 0; padding: 0; text-align: left; }
  .front td.n::before { content: attr(data-is) " "; color: var(--soft); font-size: 0.78rem; }
  .front td.n { font-size: 0.82rem; }
  .front td:last-child { order: -1; width: 100%; min-width: 0; padding-bottom: 0.15rem; }
  .front .chosen { background: var(--wash); box-shadow: inset 3px 0 0 var(--orange); }
  .front .chosen td, .front .chosen td:first-child { background: none; box-shadow: none; }
  .front tr.chosen, .front tr.other { padding-left: 0.7rem; }
}
.settings td { padding-top: 0.22rem; padding-bottom: 0.22rem; }
@media print {
  @page { margin: 14mm; }
  body { background: #ffffff; font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  button { display: none; }
  .law, .keys > div, .beside, figure, tr { break-inside: avoid; }
  h3 { break-after: avoid; }
  .scroll { overflow: visible; }
}
"""

SCRIPT = """
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
"""
