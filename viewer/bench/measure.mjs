// What the page saves a reader, and what it costs: `npm run bench [-- folder]` writes raw.json and summary.md there.
//
// Reports are clang's, on real C that is at hand. Reading a report is counted alike for every way to look at it: the
// steps are visited in the order of the path, and whenever the next step is not on screen, one action (a click, a
// scroll, a jump) brings it there. A plain editor shows one file at a time in a window of the same height.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const parallax = process.env.PARALLAX ?? join(root, "target/release/parallax");
const out = resolve(process.argv[2] ?? join(root, "bench/runs/viewer-latest"));
const work = mkdtempSync(join(tmpdir(), "parallax-bench-"));
const HEIGHT = 1050, ROW = 20;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const open = async address => { const page = await browser.newPage({ viewport: { width: 1680, height: HEIGHT } }); await page.goto(address); return page; };

/** Programs to analyse: name, folder with the sources, files, flags. */
function programs() {
  const found = [["ladle", join(root, "corpus/report/ladle"), readdirSync(join(root, "corpus/report/ladle")).filter(name => name.endsWith(".c")), []]];
  const metadata = JSON.parse(execFileSync("cargo", ["metadata", "--format-version", "1", "--offline"], { cwd: root, maxBuffer: 1 << 28 }));
  const library = metadata.packages.find(one => one.name === "tree-sitter");
  if (library) {
    const folder = dirname(library.manifest_path);
    found.push(["tree-sitter", folder, readdirSync(join(folder, "src")).filter(name => name.endsWith(".c") && name !== "lib.c").map(name => `src/${name}`), ["-Iinclude", "-Isrc", "-D_GNU_SOURCE"]]);
  }
  return found;
}

/** How often the view moves when places (top, bottom) are visited in order with a window of this height. */
function moves(places, height, top = 0) {
  let count = 0, at = top;
  for (const [from, to] of places) {
    if (from >= at && to <= at + height) continue;
    count++;
    at = Math.max(0, from - height / 4);
  }
  return count;
}

const rows = [];
for (const [name, folder, files, flags] of programs()) {
  for (const file of files) {
    const plist = join(work, "one.plist"), html = join(work, "html");
    const analyse = kind => spawnSync("clang-19", ["--analyze", "-Xclang", "-analyzer-checker=core,unix,deadcode,alpha.core", "--analyzer-output", kind, "-o", kind === "html" ? html : plist, ...flags, file], { cwd: folder, encoding: "utf8" });
    rmSync(html, { recursive: true, force: true });
    rmSync(plist, { force: true });
    analyse("plist");
    try { statSync(plist); } catch { continue; }
    const text = JSON.parse(execFileSync(parallax, ["convert", plist, "--to", "json"], { encoding: "utf8", maxBuffer: 1 << 28 }));
    if (text.reports.length === 0) continue;
    analyse("html");
    const address = join(work, "page.html");
    execFileSync(parallax, ["view", plist, "--src", folder, "-o", address], { stdio: "ignore" });
    const page = await open(`file://${address}`);
    // Clang names its pages by chance; they are matched to reports by message and line.
    const pages = [];
    for (const one of readdirSync(html, { withFileTypes: true }).filter(entry => entry.name.startsWith("report-"))) {
      const other = await open(`file://${join(html, one.name)}`);
      pages.push(await other.evaluate(() => {
        const meta = key => [...document.documentElement.outerHTML.matchAll(new RegExp(`<!-- ${key} (.*?) -->`, "g"))][0]?.[1] ?? "";
        const events = [...document.querySelectorAll('[id^="Path"], #EndPath')].filter(event => /^(Path\d+|EndPath)$/.test(event.id));
        events.sort((a, b) => (a.id === "EndPath" ? 1e9 : +a.id.slice(4)) - (b.id === "EndPath" ? 1e9 : +b.id.slice(4)));
        return { message: meta("BUGDESC"), line: +meta("BUGLINE"), places: events.map(event => { const { top, bottom } = event.getBoundingClientRect(); return [top + scrollY, bottom + scrollY]; }) };
      }));
      await other.close();
    }
    for (const [at, report] of text.reports.entries()) {
      await page.evaluate(id => { location.hash = id; }, "");
      const steps = report.paths.flatMap(path => path.steps).filter(step => step.location?.line);
      if (steps.length < 2) { await page.keyboard.press("]"); continue; }
      const ours = await page.evaluate(() => {
        const scroller = document.querySelector(".scroller"), base = scroller.getBoundingClientRect().top - scroller.scrollTop;
        const visible = [...document.querySelectorAll(".path-column .frame .line:not([hidden])")].filter(line => !line.closest(".definition"));
        return {
          shown: visible.length, all: document.querySelectorAll(".path-column .frame .line").length, height: scroller.clientHeight,
          places: [...document.querySelectorAll(".path-column .line.step")].map(line => { const { top, bottom } = line.getBoundingClientRect(); return [top - base, bottom - base]; }),
        };
      });
      const sizes = new Map(steps.map(step => [step.location.file, readFileSync(resolve(folder, step.location.file), "utf8").split("\n").length]));
      const window = Math.floor((HEIGHT - 100) / ROW);
      let editor = 0, file = "", top = 0;
      for (const { location } of steps) {
        if (location.file === file && location.line > top && location.line <= top + window) continue;
        editor++;
        file = location.file;
        top = Math.max(0, location.line - window / 4);
      }
      const last = steps[steps.length - 1].location.line;
      const matching = pages.find(one => one.line === last && report.title.startsWith(one.message.slice(0, 30))) ?? pages.find(one => one.line === last);
      rows.push({
        program: name, report: report.title.slice(0, 60), rule: report.rule, steps: steps.length, files: sizes.size,
        fileLines: [...sizes.values()].reduce((sum, lines) => sum + lines, 0), functionLines: ours.all, shown: ours.shown,
        moves: { parallax: moves(ours.places, ours.height), editor, ...(matching?.places.length && { clang: moves(matching.places, HEIGHT) }) },
      });
      if (at + 1 < text.reports.length) await page.keyboard.press("]");
    }
    await page.close();
  }
}

/** Time to first paint and page size by number of steps. */
const walk = join(work, "walk");
mkdirSync(walk);
writeFileSync(join(walk, "walk.c"), "int walk(struct node *n) {\n  int i;\n  while (n->next) {\n    i = step(n);\n    n = n->next;\n  }\n  if (n->child)\n    return walk(n->child);\n  log(\"unused\");\n  return i;\n}\n");
const paint = [];
for (const count of [10, 1_000, 10_000]) {
  const depth = Math.min(200, count / 5), steps = [], frames = [{ function: "walk", file: "walk.c" }];
  for (let at = 0; at < count - depth; at++) steps.push({ frame: 0, location: { file: "walk.c", line: 3 + (at % 3) }, role: at % 3 ? "note" : "branch", ...(at % 3 === 0 && { taken: true }), values: [{ name: "i", value: String(at) }] });
  for (let at = 0; at < depth; at++) { steps.push({ frame: at, location: { file: "walk.c", line: 8 }, role: "call" }); if (at + 1 < depth) frames.push({ function: "walk", file: "walk.c", call: steps.length - 1 }); }
  writeFileSync(join(work, "long.json"), JSON.stringify({ format: "parallax-report/1", reports: [{ title: "long", paths: [{ frames, steps }] }] }));
  const address = join(work, "long.html");
  execFileSync(parallax, ["view", join(work, "long.json"), "--src", walk, "-o", address], { stdio: "ignore" });
  const times = [];
  for (let run = 0; run < 7; run++) {
    const page = await open(`file://${address}`);
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0 && document.querySelector(".step[data-index='1']"));
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    await page.close();
  }
  times.sort((a, b) => a - b);
  paint.push({ steps: count, bytes: statSync(address).size, firstPaint: { median: times[3], worst: times[6] } });
}
await browser.close();
rmSync(work, { recursive: true, force: true });

const sum = of => rows.reduce((total, row) => total + of(row), 0);
const compared = rows.filter(row => row.moves.clang !== undefined);
const version = (...command) => execFileSync(command[0], command.slice(1), { encoding: "utf8" }).split("\n")[0].trim();
const machine = { processor: cpus()[0]?.model, cores: cpus().length, load: loadavg()[0], chromium: version("chromium", "--version"), clang: version("clang-19", "--version"), node: process.version };
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "raw.json"), JSON.stringify({ machine, rows, paint }, null, 1) + "\n");
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
const summary = `| ${rows.length} reports of clang, ${sum(row => row.steps)} steps | |
| --- | --- |
| lines of the files involved | ${sum(row => row.fileLines)} |
| lines of the functions on the paths | ${sum(row => row.functionLines)} |
| lines on screen | ${sum(row => row.shown)} (${percent(sum(row => row.shown), sum(row => row.fileLines))} of the files) |
| steps on screen without any action | ${rows.filter(row => row.moves.parallax === 0).length} of ${rows.length} reports |

| moves of the view until every step was seen, in order (${compared.length} reports that both show) | all | worst |
| --- | --- | --- |
| Parallax | ${compared.reduce((total, row) => total + row.moves.parallax, 0)} | ${Math.max(0, ...compared.map(row => row.moves.parallax))} |
| clang's HTML | ${compared.reduce((total, row) => total + row.moves.clang, 0)} | ${Math.max(0, ...compared.map(row => row.moves.clang))} |
| plain editor | ${compared.reduce((total, row) => total + row.moves.editor, 0)} | ${Math.max(0, ...compared.map(row => row.moves.editor))} |

| steps | page | first paint, median of 7 | worst |
| --- | --- | --- | --- |
${paint.map(row => `| ${row.steps} | ${Math.round(row.bytes / 1024)} kB | ${Math.round(row.firstPaint.median)} ms | ${Math.round(row.firstPaint.worst)} ms |`).join("\n")}

${Object.entries(machine).map(([key, value]) => `${key}: ${typeof value === "number" ? Math.round(value * 10) / 10 : value}`).join("; ")}
`;
writeFileSync(join(out, "summary.md"), summary);
console.log(summary);
