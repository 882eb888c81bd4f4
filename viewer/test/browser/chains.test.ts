// Two runs with threads: heads that functions share, what crosses, what is left out, and the address of a step in them.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { LADLE, Lab, RACE, column, picture } from "./harness.ts";

const lab = new Lab();
let runs = "";

type Told = { into(name: string, file: string, thread?: string): void; at(line: number, more?: object): void; back(levels?: number): void };
/** Builds a path: `into` enters a function, `at` makes a step, `back` leaves. */
function path(label: string, tell: (told: Told) => void): object {
  const frames: { file: string }[] = [], steps: object[] = [], open: number[] = [];
  tell({
    into(name, file, thread) { frames.push({ function: name, file, ...(open.length && { call: steps.length - 1 }), ...(thread && { thread }) } as never); open.push(frames.length - 1); },
    at(line, more = {}) { steps.push({ frame: open.at(-1), location: { file: frames[open.at(-1)!]!.file, line }, ...more }); },
    back(levels = 1) { open.length -= levels; },
  });
  return { label, frames, steps };
}
const values = (name: string, value: number) => ({ values: [{ name, value: String(value) }] });

/** In the bad run the ticker resets the counter between the read and the write of the worker. */
function run(bad: boolean): object {
  const tick = ({ into, at, back }: Told) => {
    into("ticker_main", "progress.c", "T1"); at(84, { role: "call" }); into("on_tick", "progress.c"); at(65, { role: "call" }); into("draw_bar", "progress.c"); at(45, { role: "call" });
    into("meter_rate", "meter.c"); at(45, { role: "branch", taken: false }); at(50, { role: "access", access: "write", ...values("window_bytes", 0), failing: bad }); back(4);
  };
  return path(bad ? "Run 7" : "Run 3", told => {
    const { into, at, back } = told;
    into("main", "main.c", "T0"); at(85, { role: "call" }); into("resume_download", "fetch.c");
    for (let i = 0; i < 4; i++) { at(92, { role: "branch", taken: true, ...values("i", i) }); at(99, { role: "call" }); }
    into("worker_main", "fetch.c", "T5"); at(45, { role: "call" }); into("part_fetch", "fetch.c"); at(35, { role: "call" }); into("part_drain", "fetch.c"); at(12, { role: "branch", taken: true }); at(25, { role: "call" });
    into("meter_add", "meter.c"); at(28, { role: "access", access: "read", ...values("window_bytes", 54591488) });
    const write = () => at(28, { role: "access", access: "write", ...values("window_bytes", 54607872), failing: bad });
    if (bad) { tick(told); write(); back(); } else { write(); back(); tick(told); }
    at(13);
  });
}

before(() => {
  const report = (title: string, bad: boolean) => ({ title, rule: "race", severity: "error", tool: { name: "probe" }, passed: !bad, paths: [run(bad)] });
  runs = lab.view([lab.write("runs.json", { format: "parallax-report/1", reports: [report("Rate is doubled", true), report("Rate is right", false)] })], "--src", LADLE);
});
after(() => lab.close());

test("functions that only pass the call on share a head that says which steps it stands for; a click takes them out", async () => {
  const { page, wrong } = await lab.open(`${runs}#R-01/1:R-02/1`, { viewport: { width: 1440, height: 900 } });
  const chains = page.locator('[data-side="A"] .frame-head:has(.chain)');
  assert.deepEqual((await chains.locator(".via").allInnerTexts()), ["main", "worker_main", "part_fetch", "ticker_main", "on_tick", "draw_bar"]);
  assert.match(await chains.nth(1).innerText(), /part_drain[\s\S]*T5[\s\S]*steps 10, 11 closed/);
  assert.match(await chains.nth(2).innerText(), /T1 runs/, "a thread that runs in between does not begin there");
  const hues = await chains.nth(1).locator(".via, .fn").evaluateAll(all => new Set(all.map(one => getComputedStyle(one).color)).size);
  assert.equal(hues, 3, "each name keeps its hue");
  assert.equal(await page.locator('[data-side="A"] .line.step[data-line="45"]').count(), 1, "the call of the worker has no line");
  await chains.nth(1).locator(".chain").click();
  assert.equal(await page.locator('[data-side="A"] .frame[data-function="part_fetch"] > .body > .line.step').count(), 1);
  await page.keyboard.press("C");
  assert.equal(await page.locator(".chain").count(), 0);
  await page.keyboard.press("C");
  assert.ok(await page.locator(".chain").count() >= 6);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a report's own view has a box for every function until it is asked for chains; a step in a chain is opened by its address", async () => {
  const { page, wrong } = await lab.open(runs, { viewport: { width: 1440, height: 900 } });
  assert.equal(await page.locator(".chain").count(), 0);
  await page.keyboard.press("C");
  assert.ok(await page.locator(`${column(1)} .chain`).count() >= 2);
  // Step 1, the call in main, has no line now; going there opens it.
  await page.keyboard.press("g");
  assert.equal(await page.locator(`${column(1)} .frame[data-function="main"] > .body > .line.current`).count(), 1);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("what both take at another time crosses in the rail, the gap says so, and the bar says who goes on", async () => {
  const { page, wrong } = await lab.open(`${runs}#R-01/1:R-02/1`, { viewport: { width: 1280, height: 900 } });
  assert.match(await page.innerText(".lead"), /Then A lets T1 run; B stays in T5\.$/);
  assert.equal(await page.innerText(".dl-a"), "switches to T1");
  assert.equal(await page.innerText(".dl-b"), "stays in T5");
  assert.equal(await page.locator(".rail path.x").count(), 1, "one crossing");
  assert.match(await page.locator(".dchip").first().innerText(), /Order, meter\.c:28/);
  assert.match((await page.locator(".pad span").allInnerTexts()).join("\n"), /no such step: it came first, step \d+/);
  assert.match(await page.locator('[data-side="B"] .res.ok').innerText(), /passes/);
  assert.equal(await page.locator('[data-side="B"] .line.access').count(), 0, "nothing goes wrong where all is well");
  assert.deepEqual(await page.locator(".cmp-head h2").allInnerTexts(), ["Failing", "Passing"]);
  await page.click('[data-mode="differences"]');
  assert.match((await page.locator(".alike").allInnerTexts()).join(), /\d+ steps alike/);
  await picture(page, "compare-differences");
  await page.locator(".alike").first().click();
  assert.equal(await page.locator('[data-mode="step"]').getAttribute("aria-pressed"), "true", "a click shows them");
  await page.click('[data-values="all"]');
  assert.equal(await page.getAttribute("body", "data-values"), "all");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("what is opened on one side keeps both in step", async () => {
  const { page, wrong } = await lab.open(`${runs}#R-01/1:R-02/1`, { viewport: { width: 1440, height: 900 } });
  const tops = () => page.evaluate(() => ["A", "B"].map(side => Math.round(document.querySelector(`[data-side="${side}"] .line.step[data-line="25"]`)!.getBoundingClientRect().top)));
  const [first] = await tops();
  await page.locator('[data-side="A"] .loop').first().click();
  assert.ok(await page.locator('[data-side="A"] .iters').isVisible());
  const [a, b] = await tops();
  assert.ok((a ?? 0) > (first ?? 0), "the list of iterations takes room");
  assert.equal(a, b, "on both sides");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("the address of a comparison names a step, and Back leads to the report", async () => {
  const { page, wrong } = await lab.open(`${runs}#R-01`);
  await page.keyboard.press("v");
  await page.locator(".pick-row").first().click();
  await page.keyboard.press("l");
  await page.keyboard.press("k");
  const hash = await page.evaluate(() => location.hash);
  assert.match(hash, /^#R-01~[0-9a-f]{6}\/1:R-02~[0-9a-f]{6}\/1\/\d+$/);
  const said = await page.innerText("#where");
  const { page: other } = await lab.open(runs + hash);
  assert.equal(await other.innerText("#where"), said);
  await other.context().close();
  await page.goBack();
  assert.equal(await page.getAttribute("body", "data-view"), "report");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("on a phone the order of all paths takes the place of one, and more is in a menu", async () => {
  const { page, wrong } = await lab.open(lab.view([RACE], "--src", LADLE), { viewport: { width: 390, height: 844 }, hasTouch: true });
  await page.locator('[data-col="order"]').tap();
  assert.equal(await page.locator(".order-row").count(), 23, "the steps of both");
  assert.ok(!(await page.locator(".path-column").first().isVisible()));
  await picture(page, "phone-order");
  await page.locator(".order-row.access").last().tap();
  assert.match(await page.innerText("#where"), /Path 2, step 13 of 13/);
  assert.ok(await page.locator(column(2)).isVisible());
  await page.locator('[data-act="menu"]').tap();
  const low = await page.locator("#menu button").evaluateAll(all => Math.min(...all.map(one => one.getBoundingClientRect().height)));
  assert.ok(low >= 44, `targets of ${low}`);
  await page.locator("#menu button", { hasText: "All reports" }).tap();
  assert.equal(await page.getAttribute("body", "data-view"), "list");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("on a phone two paths are compared one at a time", async () => {
  const { page, wrong } = await lab.open(`${runs}#R-01/1:R-02/1`, { viewport: { width: 390, height: 844 }, hasTouch: true });
  const seen = () => page.locator(".cmp-grid .path-column:visible").evaluateAll(all => all.map(one => (one as HTMLElement).dataset["side"]).join());
  assert.equal(await seen(), "A");
  await page.locator('[data-show="b"]').tap();
  assert.equal(await seen(), "B");
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(wrong, []);
  await page.context().close();
});
