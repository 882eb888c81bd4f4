// What reading ten real reports takes, and what judging hundreds takes:
//
//   node bench/effort.mjs MATRIX OUT [LIST SOURCES]
//
// MATRIX is the folder of `make peers WHAT=report-matrix`: of each tool's reports the one with the longest path is read. LIST is a report
// file with hundreds of findings. Reading: the steps are visited in the order of the path; whenever the next one is not on
// screen, one action brings it there. A plain editor shows one file at a time in a window of the same height. Judging: real
// keys are pressed on the page until every report has its verdict, once by groups, once one by one in the same list.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const parallax = process.env.PARALLAX ?? join(root, "target/release/parallax");
const [matrix, out, list, listSources] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "parallax-effort-"));
const HEIGHT = 1050, ROW = 20;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const quiet = { stdio: ["ignore", "ignore", "ignore"] };

/** Ten reports of real tools on real programs: program, report file. */
const TEN = [["zip30", "zipnote.gcc12.json"], ["zip30", "zipnote.plist"], ["zip30", "unix.gcc14.sarif"], ["zip30", "bounded.cbmc.json"], ["zip30", "broken.address.txt"], ["zip30", "driver.helgrind.xml"], ["bzip2-1.0.8", "bzlib.gcc14.sarif"], ["bzip2-1.0.8", "bzlib.plist"], ["bzip2-1.0.8", "driver.memcheck.xml"], ["zip30", "all.cppcheck.xml"]];

function moves(places, height) {
  let count = 0, at = 0;
  for (const [from, to] of places) { if (from >= at && to <= at + height) continue; count++; at = Math.max(0, from - height / 4); }
  return count;
}

const rows = [];
const ten = process.env.ONLY === "triage" ? [] : TEN;
for (const [program, name] of ten) {
  const file = join(matrix, "reports", program, name), folder = join(matrix, program);
  if (!existsSync(file)) { console.error(`missing: ${program}/${name}`); continue; }
  const address = join(work, "page.html");
  const { reports } = JSON.parse(execFileSync(parallax, ["convert", file, "--to", "json"], { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
  const length = report => Math.max(0, ...(report.paths ?? []).map(path => path.steps.length));
  const at = reports.reduce((best, report, index) => (length(report) > length(reports[best]) ? index : best), 0), report = reports[at];
  execFileSync(parallax, ["view", file, "--src", folder, "-o", address], quiet);
  const page = await browser.newPage({ viewport: { width: 1680, height: HEIGHT } });
  await page.goto(`file://${address}#R-${String(at + 1).padStart(Math.max(2, String(reports.length).length), "0")}`);
  await page.waitForTimeout(300);
  const columns = await page.evaluate(() => [...document.querySelectorAll(".path-column:not([hidden])")].map(column => {
    const scroller = column.querySelector(".scroller"), base = scroller.getBoundingClientRect().top - scroller.scrollTop;
    return {
      height: scroller.clientHeight, all: scroller.scrollHeight, loops: column.querySelectorAll(".loop").length,
      shown: [...column.querySelectorAll(".frame .line:not([hidden])")].filter(line => !line.closest(".definition")).length,
      places: [...column.querySelectorAll(".line.step")].map(line => { const { top, bottom } = line.getBoundingClientRect(); return [top - base, bottom - base]; }),
    };
  }));
  const steps = report.paths.flatMap(path => path.steps).filter(step => step.location?.line);
  const text = name => { for (const place of [resolve(folder, name), join(folder, name.split("/").pop()), name]) if (existsSync(place)) return readFileSync(place, "latin1").split("\n").length; return 0; };
  const files = new Map(steps.map(step => [step.location.file, text(step.location.file)]));
  const window = Math.floor((HEIGHT - 100) / ROW);
  let editor = 0, open = "", top = 0;
  for (const { location } of steps) {
    if (location.file === open && location.line > top && location.line <= top + window) continue;
    editor++;
    open = location.file;
    top = Math.max(0, location.line - window / 4);
  }
  rows.push({ program, report: name, title: report.title.slice(0, 60), paths: report.paths.length, steps: steps.length, files: files.size, fileLines: [...files.values()].reduce((a, b) => a + b, 0),
    lines: columns.reduce((sum, one) => sum + one.shown, 0), screens: Math.max(0, ...columns.map(one => Math.ceil(one.all / one.height))), moves: columns.reduce((sum, one) => sum + moves(one.places, one.height), 0),
    clicks: columns.reduce((sum, one) => sum + one.loops, 0), editorScreens: new Set(steps.map(step => `${step.location.file}:${Math.floor(step.location.line / window)}`)).size, editorMoves: editor });
  await page.close();
}

/** Presses keys until all is judged; how many that took. */
async function judged(way) {
  const address = join(work, "list.html");
  execFileSync(parallax, ["view", list, "--src", listSources, "-o", address], quiet);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`file://${address}#list`);
  let keys = 0;
  const press = async key => { keys++; await page.keyboard.press(key); };
  const state = () => page.evaluate(() => { const said = /(\d+) of (\d+) triaged/.exec(document.querySelector("#progress")?.textContent ?? "") ?? []; return { done: Number(said[1] ?? 0), all: Number(said[2] ?? 0), view: document.body.dataset.view }; });
  const began = await state();
  let left = { ...began }, stuck = 0, groups = 0;
  if (way === "group") await press("K");
  while (left.done < left.all && stuck < 100) {
    const before = left.done;
    if (way === "group") {
      // To the next group that waits; its alike members get one verdict, those that differ are met one by one.
      const kind = await page.evaluate(() => { const row = document.querySelector(".groups .cur"); return row?.classList.contains("rr") ? "rule" : row?.classList.contains("cl") ? "group" : row?.dataset.state === "open" ? "report" : "done"; });
      if (kind === "rule") { const open = await page.evaluate(() => document.querySelector(".groups .cur")?.getAttribute("aria-expanded") === "true"); if (!open) await press("Enter"); await press("j"); }
      else if (kind === "group") {
        const waits = await page.evaluate(() => Number(document.querySelector(".groups .cur")?.dataset.waiting ?? 0) > 0);
        if (!waits) { stuck++; await press("J"); continue; }
        await press("F");
        if (await page.locator("#bulk-count").count()) { await press("Control+Enter"); groups++; } else {
          // All that waits differs from the others: they are met one by one.
          if (await page.evaluate(() => document.querySelector(".groups .cur")?.getAttribute("aria-expanded") !== "true")) await press("Enter");
          await press("j");
        }
      } else if (kind === "report") { await press("F"); groups++; } else await press("j");
    } else {
      const kind = await page.evaluate(() => { const row = document.querySelector(".groups .cur"); return row?.classList.contains("rep") ? (row.dataset.state === "open" ? "open" : "done") : row?.classList.contains("more") ? "more" : row?.getAttribute("aria-expanded") === "true" ? "expanded" : "closed"; });
      if (kind === "closed") await press("Enter");
      // A verdict on one report goes on to the next that waits; the rest of a group is opened in its place.
      await press(kind === "open" ? "F" : kind === "more" ? "Enter" : "j");
    }
    left = await state();
    stuck = left.done > before ? 0 : stuck + 1;
  }
  if (left.done < left.all) console.error(await page.evaluate(() => [...document.querySelectorAll(".groups [data-at]")].filter(row => row.classList.contains("rr") || Number(row.dataset.waiting) > 0 || row.dataset.state === "open").map(row => `${row.className} ${row.innerText.replace(/\s+/g, " ").slice(0, 70)}`).join("\n")));
  await page.close();
  return { way, reports: began.all, judged: left.done, keys, decisions: groups };
}

const triage = [];
if (list) {
  for (const way of (process.env.WAYS ?? "group,one").split(",")) { triage.push(await judged(way)); console.error(triage.at(-1)); }
}
await browser.close();
rmSync(work, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "raw.json"), JSON.stringify({ load: loadavg()[0], rows, triage }, null, 1) + "\n");
const sum = key => rows.reduce((total, row) => total + row[key], 0);
writeFileSync(join(out, "table.md"), `| report | steps | lines of its files | lines on screen | screens | moves | clicks | editor: screens | editor: moves |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${rows.map(row => `| ${row.program}/${row.report} | ${row.steps} | ${row.fileLines} | ${row.lines} | ${row.screens} | ${row.moves} | ${row.clicks} | ${row.editorScreens} | ${row.editorMoves} |`).join("\n")}
| all | ${sum("steps")} | ${sum("fileLines")} | ${sum("lines")} | ${sum("screens")} | ${sum("moves")} | ${sum("clicks")} | ${sum("editorScreens")} | ${sum("editorMoves")} |

| judging | reports | keys | keys per report |
| --- | --- | --- | --- |
${triage.map(one => `| ${one.way === "group" ? "by group" : "one by one"} | ${one.judged} of ${one.reports} | ${one.keys} | ${(one.keys / Math.max(1, one.judged)).toFixed(2)} |`).join("\n")}
`);
console.log(readFileSync(join(out, "table.md"), "utf8"));
