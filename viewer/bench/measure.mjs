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
const HEIGHT = 1050, ROW = 20, MOST = 25;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const open = async address => { const page = await browser.newPage({ viewport: { width: 1680, height: HEIGHT } }); await page.goto(address); return page; };

/** Programs to analyse: name, folder with the sources, files, flags. More with $SOURCES, a folder of C files. */
function programs() {
  const cFiles = folder => readdirSync(folder).filter(name => name.endsWith(".c"));
  const folders = [join(root, "corpus/report"), join(root, "corpus/report/ladle"), join(root, "corpus/view"), ...(process.env.SOURCES ? [resolve(process.env.SOURCES)] : [])];
  return [...folders, large()].map(folder => [folder.slice(folder.lastIndexOf("/") + 1), folder, cFiles(folder), ["-I."]]);
}

/** A program of real size: some 5,000 lines, with errors whose way leads through functions far apart. */
function large() {
  const folder = join(work, "large"), count = 150, chains = 12, links = 5;
  mkdirSync(folder);
  const called = at => `stage_${at}`, far = (chain, link) => (chain * 11 + link * 31) % count;
  const lines = ["#include <stdlib.h>", "#include <stdio.h>", "struct item { int size; int *data; struct item *next; };", ""];
  for (let chain = 0; chain < chains; chain++) for (let link = 0; link < links; link++) lines.push(`static int way_${chain}_${link}(struct item *item, int n);`);
  for (let at = 0; at < count; at++) {
    lines.push("", `/* Stage ${at} of the work. */`, `int ${called(at)}(struct item *item, int n) {`, "    int sum = 0, i;", "    if (item == NULL) {", `        fprintf(stderr, "stage ${at}: nothing to do\\n");`, "        return -1;", "    }",
      "    for (i = 0; i < item->size && i < n; i++) {", "        if (item->data[i] > n)", "            sum += item->data[i] - n;", "        else", "            sum -= n;", "    }",
      "    switch (n % 3) {", "    case 0:", "        sum *= 2;", "        break;", "    case 1:", "        sum += n;", "        break;", "    default:", "        sum = 0;", "    }", "    return sum;", "}");
    for (let chain = 0; chain < chains; chain++) for (let link = 0; link < links; link++) if (far(chain, link) === at) {
      lines.push("", `static int way_${chain}_${link}(struct item *item, int n) {`, `    int done = ${at};`, "    while (done < n && done < 4) {", "        done++;", "    }", "    if (n > 100) {", "        done = -done;", "    } else {", "        done++;", "    }",
        ...(link + 1 < links ? [`    if (done > ${at})`, `        return way_${chain}_${link + 1}(item, n + 1);`] : ["    done += item->data[0];"]), "    return done;", "}");
    }
  }
  for (let chain = 0; chain < chains; chain++) lines.push("", `int enter_${chain}(struct item *item) {`, "    free(item->data);", `    return way_${chain}_0(item, 3);`, "}");
  writeFileSync(join(folder, "large.c"), lines.join("\n") + "\n");
  return folder;
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

/** What one report of an open page shows, against the files and an editor. */
async function reading(program, report, page, folder, clangPages) {
  const paths = report.paths.map(path => path.steps.filter(step => step.location?.line)).filter(steps => steps.length > 0);
  const steps = paths.flat();
  if (steps.length < 2) return;
  const ours = await page.evaluate(() => [...document.querySelectorAll(".path-column")].map(column => {
    const scroller = column.querySelector(".scroller"), base = scroller.getBoundingClientRect().top - scroller.scrollTop;
    const lines = [...column.querySelectorAll(".frame .line")].filter(line => !line.closest(".definition"));
    return {
      shown: lines.filter(line => !line.hidden).length, all: lines.length, height: scroller.clientHeight,
      places: [...column.querySelectorAll(".line.step")].map(line => { const { top, bottom } = line.getBoundingClientRect(); return [top - base, bottom - base]; }),
    };
  }));
  const sizes = new Map(steps.map(step => [step.location.file, readFileSync(resolve(folder, step.location.file), "utf8").split("\n").length - 1]));
  const window = Math.floor((HEIGHT - 100) / ROW);
  let editor = 0, file = "", top = 0;
  for (const { location } of steps) {
    if (location.file === file && location.line > top && location.line <= top + window) continue;
    editor++;
    file = location.file;
    top = Math.max(0, location.line - window / 4);
  }
  const last = steps[steps.length - 1].location.line;
  const matching = clangPages.find(one => one.line === last && report.title.startsWith(one.message.slice(0, 30))) ?? clangPages.find(one => one.line === last);
  rows.push({
    program, report: report.title.slice(0, 60), rule: report.rule, tool: report.tool?.name, paths: paths.length, steps: steps.length, files: sizes.size,
    fileLines: [...sizes.values()].reduce((sum, lines) => sum + lines, 0), functionLines: ours.reduce((sum, column) => sum + column.all, 0), shown: ours.reduce((sum, column) => sum + column.shown, 0),
    moves: { parallax: ours.reduce((sum, column) => sum + moves(column.places, column.height), 0), editor, ...(matching?.places.length && { clang: moves(matching.places, HEIGHT) }) },
  });
}

const rows = [];
const began = Date.now();
/** `ONLY=paint` measures the first paint alone. */
const read = process.env.ONLY !== "paint";
for (const [file, folder] of read ? [["ladle/race.locksmith", "ladle"], ["lift.blast", ""]] : []) {
  const whole = join(root, "corpus/report", file), source = join(root, "corpus/report", folder), address = join(work, "page.html");
  const text = JSON.parse(execFileSync(parallax, ["convert", whole, "--to", "json"], { encoding: "utf8" }));
  execFileSync(parallax, ["view", whole, "--src", source, "-o", address], { stdio: "ignore" });
  const page = await open(`file://${address}`);
  for (const report of text.reports) { await reading(file, report, page, source, []); await page.keyboard.press("]"); }
  await page.close();
}
for (const [name, folder, files, flags] of read ? programs() : []) {
  for (const file of files) {
    console.error(`${Math.round((Date.now() - began) / 1000)} s: ${file}`);
    const plist = join(work, "one.plist"), html = join(work, "html");
    const analyse = kind => spawnSync("clang-19", ["--analyze", "--analyzer-output", kind, "-o", kind === "html" ? html : plist, ...flags, file], { cwd: folder, encoding: "utf8" });
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
    for (const one of readdirSync(html, { withFileTypes: true }).filter(entry => entry.name.startsWith("report-")).slice(0, MOST)) {
      const other = await open(`file://${join(html, one.name)}`);
      pages.push(await other.evaluate(() => {
        const meta = key => [...document.documentElement.outerHTML.matchAll(new RegExp(`<!-- ${key} (.*?) -->`, "g"))][0]?.[1] ?? "";
        const events = [...document.querySelectorAll('[id^="Path"], #EndPath')].filter(event => /^(Path\d+|EndPath)$/.test(event.id));
        events.sort((a, b) => (a.id === "EndPath" ? 1e9 : +a.id.slice(4)) - (b.id === "EndPath" ? 1e9 : +b.id.slice(4)));
        return { message: meta("BUGDESC"), line: +meta("BUGLINE"), places: events.map(event => { const { top, bottom } = event.getBoundingClientRect(); return [top + scrollY, bottom + scrollY]; }) };
      }));
      await other.close();
    }
    for (const [at, report] of text.reports.slice(0, MOST).entries()) {
      await reading(name, report, page, folder, pages);
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
/** Wall clock to the first paint, and what the page's main thread computed until then and shortly after. */
async function timed(address, ready) {
  const runs = [];
  for (let run = 0; run < 7; run++) {
    const page = await browser.newPage({ viewport: { width: 1680, height: HEIGHT } });
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto(address);
    await page.waitForFunction(wanted => performance.getEntriesByName("first-contentful-paint").length > 0 && document.querySelector(wanted), ready);
    const { metrics } = await session.send("Performance.getMetrics");
    const spent = name => 1000 * metrics.find(one => one.name === name).value;
    runs.push({ wall: await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime), cpu: spent("TaskDuration"), script: spent("ScriptDuration") });
    await page.close();
  }
  const median = key => runs.map(run => run[key]).sort((a, b) => a - b)[3];
  return { wall: median("wall"), best: Math.min(...runs.map(run => run.wall)), cpu: median("cpu"), script: median("script") };
}
writeFileSync(join(work, "empty.html"), "<!doctype html><title>x</title><p class=step>an empty page");
paint.push({ steps: "an empty page", bytes: 60, firstPaint: await timed(`file://${join(work, "empty.html")}`, ".step") });
for (const count of [10, 1_000, 10_000]) {
  const depth = Math.min(200, count / 5), steps = [], frames = [{ function: "walk", file: "walk.c" }];
  for (let at = 0; at < count - depth; at++) steps.push({ frame: 0, location: { file: "walk.c", line: 3 + (at % 3) }, role: at % 3 ? "note" : "branch", ...(at % 3 === 0 && { taken: true }), values: [{ name: "i", value: String(at) }] });
  for (let at = 0; at < depth; at++) { steps.push({ frame: at, location: { file: "walk.c", line: 8 }, role: "call" }); if (at + 1 < depth) frames.push({ function: "walk", file: "walk.c", call: steps.length - 1 }); }
  writeFileSync(join(work, "long.json"), JSON.stringify({ format: "parallax-report/1", reports: [{ title: "long", paths: [{ frames, steps }] }] }));
  const address = join(work, "long.html");
  execFileSync(parallax, ["view", join(work, "long.json"), "--src", walk, "-o", address], { stdio: "ignore" });
  paint.push({ steps: count, bytes: statSync(address).size, firstPaint: await timed(`file://${address}`, ".step[data-index='1']") });
}
await browser.close();
rmSync(work, { recursive: true, force: true });

const sum = of => rows.reduce((total, row) => total + of(row), 0);
const compared = rows.filter(row => row.moves.clang !== undefined), all = of => rows.reduce((total, row) => total + of(row), 0);
const version = (...command) => execFileSync(command[0], command.slice(1), { encoding: "utf8" }).split("\n")[0].trim();
const machine = { processor: cpus()[0]?.model, cores: cpus().length, load: loadavg()[0], chromium: version("chromium", "--version"), clang: version("clang-19", "--version"), node: process.version };
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "raw.json"), JSON.stringify({ machine, rows, paint }, null, 1) + "\n");
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
const summary = `| ${rows.length} reports, ${sum(row => row.paths)} paths, ${sum(row => row.steps)} steps | |
| --- | --- |
| lines of the files involved | ${sum(row => row.fileLines)} |
| lines of the functions on the paths | ${sum(row => row.functionLines)} |
| lines on screen | ${sum(row => row.shown)} (${percent(sum(row => row.shown), sum(row => row.fileLines))} of the files) |
| steps on screen without any action | ${rows.filter(row => row.moves.parallax === 0).length} of ${rows.length} reports |

| moves of the view until every step was seen, in order (${compared.length} reports of clang) | all | worst |
| --- | --- | --- |
| Parallax | ${compared.reduce((total, row) => total + row.moves.parallax, 0)} | ${Math.max(0, ...compared.map(row => row.moves.parallax))} |
| clang's HTML | ${compared.reduce((total, row) => total + row.moves.clang, 0)} | ${Math.max(0, ...compared.map(row => row.moves.clang))} |
| plain editor | ${compared.reduce((total, row) => total + row.moves.editor, 0)} | ${Math.max(0, ...compared.map(row => row.moves.editor))} |

Over all ${rows.length} reports: Parallax ${all(row => row.moves.parallax)}, plain editor ${all(row => row.moves.editor)}.

| steps | page | first paint, median of 7 | best of 7 | main thread's computing, median | of that, script |
| --- | --- | --- | --- | --- | --- |
${paint.map(row => `| ${row.steps} | ${Math.round(row.bytes / 1024)} kB | ${Math.round(row.firstPaint.wall)} ms | ${Math.round(row.firstPaint.best)} ms | ${Math.round(row.firstPaint.cpu)} ms | ${Math.round(row.firstPaint.script)} ms |`).join("\n")}

${Object.entries(machine).map(([key, value]) => `${key}: ${typeof value === "number" ? Math.round(value * 10) / 10 : value}`).join("; ")}
`;
writeFileSync(join(out, "summary.md"), summary);
console.log(summary);
