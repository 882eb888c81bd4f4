// Pictures of every view, in the sizes and themes of the design: `node bench/pictures.mjs FOLDER [TRIAGE REPORT SOURCES [BASELINE]]`.
//
// Two runs of a program that goes wrong in one of them are compared, the data race of the corpus is read, and reports of a
// real tool (TRIAGE, with its SOURCES and an earlier run) are listed. The pictures are for eyes: nothing here judges them.
// $TARGETS names the folder of the design's own pictures: with it, OUT/beside.html shows each beside its target.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const parallax = process.env.PARALLAX ?? join(root, "target/release/parallax");
const [out = "pictures", triage, sources, baseline] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "parallax-pictures-"));
mkdirSync(out, { recursive: true });

/** Builds a path: `into` enters a function, `at` makes a step, `back` leaves. */
function path(label, tell) {
  const frames = [], steps = [], open = [];
  const file = () => frames[open.at(-1)].file;
  tell({
    into(name, of, thread) { frames.push({ function: name, file: of, ...(open.length && { call: steps.length - 1 }), ...(thread && { thread }) }); open.push(frames.length - 1); },
    at(line, more = {}) { const { set, ...rest } = more; steps.push({ frame: open.at(-1), location: { file: file(), line }, order: steps.length + 1, ...rest, ...(set && { values: Object.entries(set).map(([name, value]) => ({ name, value: String(value) })) }) }); },
    back(levels = 1) { open.length -= levels; },
  });
  return { label, frames, steps };
}

/** The story of the design: in one run the reset falls between the read and the write. */
function run(bad) {
  const tick = (rate, bytes) => ({ into, at, back }) => {
    into("ticker_main", "progress.c", "T1"); at(84, { role: "call" });
    into("on_tick", "progress.c"); at(65, { role: "call" });
    into("draw_bar", "progress.c"); at(45, { role: "call" });
    into("meter_rate", "meter.c"); at(45, { role: "branch", taken: false }); at(47, { set: { now: bytes } }); at(50, { role: "access", access: "write", set: { window_bytes: 0 }, ...(bad && { failing: true }) }); back(4);
  };
  return path(bad ? "Run 7" : "Run 3", told => {
    const { into, at, back } = told;
    into("main", "main.c", "T0"); at(85, { role: "call" });
    into("resume_download", "fetch.c");
    for (let i = 0; i < 4; i++) { at(92, { role: "branch", taken: true, set: { i } }); at(99, { role: "call", message: `starts T${i + 2}` }); }
    into("worker_main", "fetch.c", "T5"); at(45, { role: "call" });
    into("part_fetch", "fetch.c"); at(35, { role: "call" });
    into("part_drain", "fetch.c");
    for (const pos of [660848, 664944, 669040, 677232]) { at(12, { role: "branch", taken: true }); at(13); at(24, { set: { "p->pos": pos } }); }
    at(25, { role: "call" });
    into("meter_add", "meter.c"); at(27, { role: "branch", taken: true });
    at(28, { role: "access", access: "read", message: "reads", set: { window_bytes: 54591488 } });
    if (bad) { tick("109.2", 54591488)(told); at(28, { role: "access", access: "write", message: "writes, reset lost", failing: true, set: { window_bytes: 54607872 } }); back(); }
    else { at(28, { role: "access", access: "write", message: "writes", set: { window_bytes: 54607872 } }); back(); at(12, { role: "branch", taken: true }); tick("54.6", 54607872)(told); }
    at(13);
  });
}

const report = (title, bad) => ({ title, rule: "race", severity: "error", tool: { name: "parallax record" }, location: { file: "meter.c", line: 28 }, passed: !bad, paths: [run(bad)] });
writeFileSync(join(work, "runs.json"), JSON.stringify({ format: "parallax-report/1", reports: [report("Rate is shown doubled", true), report("Rate is right", false)] }));
const view = (name, ...args) => { const page = join(work, `${name}.html`); execFileSync(parallax, ["view", ...args, "-o", page], { stdio: ["ignore", "ignore", "inherit"] }); return `file://${page}`; };
const ladle = join(root, "corpus/report/ladle");
const runs = view("runs", join(work, "runs.json"), "--src", ladle, "--name", "ladle");
const race = view("race", join(root, "corpus/view/race.json"), "--src", ladle, "--name", "ladle");
const many = triage && view("many", triage, ...(sources ? ["--src", sources] : []), ...(baseline ? ["--baseline", baseline] : []));

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const sizes = [[1280, 900], [1440, 900], [1920, 1080], [390, 844]];
const views = [["path", race, "#R-01"], ["compare", runs, "#R-01/1:R-02/1"], ["list", race, "#list"], ["loop", runs, "#R-01/1:R-02/1", page => page.keyboard.press("o")], ["differences", runs, "#R-01/1:R-02/1", page => page.click('[data-mode="differences"]')], ["order", race, "#R-01", async page => { const order = page.locator('[data-col="order"]'); if (await order.count()) await order.click(); }], ...(many ? [["triage", many, "#list", triaged], ["bulk", many, "#list", bulk], ["alike", many, "#list", page => page.click("#pane-alike").catch(() => undefined)]] : [])];

/** The list as somebody has it who looks at one group. */
async function triaged(page) {
  await page.keyboard.press("J"); await page.keyboard.press("Enter");
  await page.keyboard.press("j");
}

async function bulk(page) {
  await page.keyboard.press("K");
  await page.keyboard.press("F");
}

for (const theme of (process.env.THEMES ?? "light,dark").split(",")) for (const [width, height] of sizes.filter(([width]) => !process.env.WIDTHS || process.env.WIDTHS.split(",").includes(String(width)))) for (const [name, address, hash, act] of views.filter(([name]) => !process.env.VIEWS || process.env.VIEWS.split(",").includes(name))) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme, ...(width < 500 && { hasTouch: true, isMobile: true, deviceScaleFactor: 1 }) });
  page.on("pageerror", error => console.error(`${name} ${width} ${theme}: ${error.message}`));
  await page.goto(address + hash);
  await act?.(page);
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(out, `${name}-${width}-${theme}.png`) });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (overflow > 0) console.error(`${name} ${width} ${theme}: wider than the window by ${overflow}`);
  await page.close();
}
await browser.close();
const targets = process.env.TARGETS;
if (targets) {
  const pairs = [["compare-1440-light", "compare-light"], ["compare-1440-dark", "compare-dark"], ["loop-1280-light", "compare-1280"], ["triage-1440-light", "triage-light"], ["bulk-1440-dark", "triage-bulk-dark"], ["path-390-light", "phone-path"], ["path-390-dark", "phone-path-dark"], ["bulk-390-light", "phone-list"]];
  writeFileSync(join(out, "beside.html"), `<!doctype html><meta charset="utf-8"><title>Beside the targets</title>${pairs.map(([ours, theirs]) => `<h2>${ours}</h2><p><img src="${ours}.png"> <img src="${resolve(targets, `${theirs}.png`)}"></p>`).join("\n")}\n`);
}
rmSync(work, { recursive: true, force: true });
