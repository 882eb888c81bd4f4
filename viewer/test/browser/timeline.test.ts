// Timelines of real recordings: made by `parallax timeline`, looked at in Chromium.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { violations } from "./axe.ts";
import { misfits } from "./fit.ts";
import { Lab, PARALLAX, ROOT, picture } from "./harness.ts";

const lab = new Lab();
after(() => lab.close());

const SCRIPT = `waiting = the_execution.watchpoints("chunks_waiting", rw=READ | WRITE)
collections = the_execution.breakpoints("collect")
calls = the_execution.all_calls()
acquired = analyses.threads_at(the_execution.breakpoints("gc_lock", index=-1))
released = analyses.threads_at(the_execution.breakpoints("gc_unlock"))
unprotected = analyses.one_lock(analyses.accesses_of(the_execution, "chunks_waiting"), acquired, released)
`;

/** An interpreter that has the module, as scripts/test-viewer arranges it. */
const python = process.env["PARALLAX_PYTHON"] ?? "python3";
let page: string;
let data: { lanes: { name: string; times: number[] }[]; moments: { t: number }[]; end: number };

before(() => {
  const source = join(ROOT, "python/tests/programs/collector.c"), program = join(lab.folder, "collector");
  assert.equal(spawnSync("gcc", ["-g", "-O0", "-w", "-o", program, source, "-lpthread"]).status, 0);
  lab.run("record", "--seed", "2", "-o", "collector.rec", "--", program);
  const script = lab.write("races.py", SCRIPT);
  const out = join(lab.folder, "timeline.html");
  const ran = spawnSync(PARALLAX, ["timeline", "collector.rec", "--script", script, "-o", out, "--json"], { cwd: lab.folder, encoding: "utf8", env: { ...process.env, PARALLAX_PYTHON: python }, maxBuffer: 1 << 28 });
  assert.equal(ran.status, 0, ran.stderr);
  data = JSON.parse(ran.stdout);
  page = `file://${out}`;
});

const status = (page: Page): Promise<string> => page.innerText(".status [role=status]");
const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, "\u2009");
const last = (name: string): number => data.lanes.find(lane => lane.name === name)!.times.reduce((sum, by) => sum + by, 0);

test("opens at the last item of the last lane, with its stack as nested frames of source", async () => {
  const { page: tab, wrong } = await lab.open(page, { viewport: { width: 1440, height: 900 } });
  await picture(tab, "timeline-1440-light");
  assert.match(await status(tab), new RegExp(`^Moment ${grouped(last("unprotected"))}, T\\d, collector.c:\\d+, item \\d+ of \\d+ in unprotected$`));
  const functions = await tab.locator(".moment .frame[data-function]").evaluateAll(frames => frames.map(one => (one as HTMLElement).dataset["function"]));
  assert.ok(functions.includes("expire") || functions.includes("collect"), functions.join(", "));
  const current = await tab.innerText(".moment .line.now code");
  assert.match(current, /chunks_waiting/);
  assert.ok(await tab.locator(".moment .line.now").isVisible());
  assert.deepEqual(await tab.locator(".lane .lh-top b").allInnerTexts().then(names => names.slice(-6)), ["chunks_waiting", "collections", "calls", "acquired", "released", "unprotected"]);
  assert.ok(await tab.locator(".threads .run").count() > 4, "turns of threads");
  assert.ok(await tab.locator(".threads .run").first().isVisible(), "and they can be seen");
  assert.ok(await tab.locator(".calls .sp, .calls .dense-f").count() > 0, "calls by depth");
  assert.ok(await tab.locator(".watch .vline path").count() > 1, "the value is drawn");
  assert.deepEqual(wrong, []);
  await tab.context().close();
});

test("walks items and lanes by keys, and the moment follows", async () => {
  const { page: tab, wrong } = await lab.open(page, { viewport: { width: 1440, height: 900 } });
  await tab.keyboard.press("k");
  const before = await status(tab);
  assert.match(before, /item \d+ of \d+ in unprotected/);
  await tab.keyboard.press("j");
  assert.match(await status(tab), new RegExp(grouped(last("unprotected"))));
  await tab.keyboard.press("h");
  await tab.waitForFunction(() => document.querySelector(".lane.picked")?.getAttribute("data-lane") === "4");
  await tab.keyboard.press("w");
  await tab.waitForFunction(() => / in chunks_waiting$/.test(document.querySelector(".status [role=status]")?.textContent ?? ""));
  await tab.keyboard.press("F");
  await tab.keyboard.press("y");
  assert.match(await tab.evaluate(() => location.hash), /^#t=\d+&lane=\d+&from=\d+&to=\d+/);
  assert.deepEqual(wrong, []);
  await tab.context().close();
});

test("zooms from the whole run to single steps, at the pointer and by keys, and never drops a count", async () => {
  const { page: tab, wrong } = await lab.open(page, { viewport: { width: 1440, height: 900 } });
  const zoom = (): Promise<number> => tab.innerText(".zl").then(text => Number(text.replace(/\D/g, "")));
  const shown = (lane: number): Promise<number> => tab.evaluate(at => {
    const track = document.querySelector(`[data-lane="${at}"] .track`)!;
    const single = track.querySelectorAll(":scope > .it:not(.now), :scope > .it.now:last-child").length;
    const dense = [...track.querySelectorAll(".dens > span")].reduce((sum, label) => sum + Number(label.textContent!.replace(/\D/g, "")), 0);
    return single + dense;
  }, lane);
  const all = data.lanes[2]!;
  assert.ok(all.times.length > 200, "a dense lane");
  assert.equal(await shown(2), all.times.length, "every item is drawn or counted");
  assert.ok(await tab.locator('[data-lane="2"] .dens').count() > 0);
  const whole = await zoom();
  for (let step = 0; step < 24; step++) await tab.keyboard.press("+");
  await tab.waitForTimeout(100);
  assert.equal(await zoom(), 12, "single steps");
  await picture(tab, "timeline-steps");
  await tab.keyboard.press("0");
  await tab.waitForTimeout(100);
  assert.equal(await zoom(), whole);
  const track = (await tab.locator('[data-lane="2"] .track').boundingBox())!;
  await tab.mouse.move(track.x + track.width * 0.25, track.y + 20);
  await tab.mouse.wheel(0, -600);
  await tab.waitForTimeout(100);
  assert.ok(await zoom() < whole / 2, "the wheel zooms");
  const from = await tab.evaluate(() => document.querySelector<HTMLElement>(".brush")!.style.left);
  await tab.mouse.down();
  await tab.mouse.move(track.x + track.width * 0.05, track.y + 20, { steps: 4 });
  await tab.mouse.up();
  await tab.waitForTimeout(100);
  assert.notEqual(await tab.evaluate(() => document.querySelector<HTMLElement>(".brush")!.style.left), from, "dragging pans");
  const over = (await tab.locator(".over .ovt").boundingBox())!;
  await tab.mouse.move(over.x + over.width * 0.6, over.y + 30);
  await tab.mouse.down();
  await tab.mouse.move(over.x + over.width * 0.7, over.y + 30, { steps: 4 });
  await tab.mouse.up();
  await tab.waitForTimeout(100);
  const picked = await zoom();
  assert.ok(Math.abs(picked - data.end / 10) < data.end / 50, `the overview picks a window: ${picked} of ${data.end}`);
  assert.deepEqual(wrong, []);
  await tab.context().close();
});

test("hovering says what an item is, clicking goes there", async () => {
  const { page: tab, wrong } = await lab.open(page, { viewport: { width: 1440, height: 900 } });
  const lane = tab.locator('[data-lane="0"]');
  let time = 0, at = data.lanes[0]!.times.length - 1;
  data.lanes[0]!.times.forEach((by, index) => { if (index <= at) time += by; });
  await tab.evaluate(t => { location.hash = ""; void t; }, time);
  const track = (await lane.locator(".track").boundingBox())!;
  const x = track.x + (track.width * (time - 1)) / (data.end - 1);
  await tab.mouse.move(x, track.y + track.height - 12);
  await tab.waitForSelector(".card-h:not([hidden])");
  const card = await tab.innerText(".card-h");
  assert.match(card, /(Write|Read) of\s*chunks_waiting/);
  assert.match(card, /T\d (expire|collect)/);
  assert.match(card, /before the moment|after the moment|the moment/);
  await picture(tab, "timeline-hover");
  await tab.mouse.down();
  await tab.mouse.up();
  await tab.waitForFunction(() => / in chunks_waiting$/.test(document.querySelector(".status [role=status]")?.textContent ?? ""));
  assert.equal(await tab.locator(".values .vr.hot").count() > 0, true, "who wrote the watched variable is linked");
  assert.deepEqual(wrong, []);
  await tab.context().close();
});

for (const [width, height] of [[1920, 1080], [1440, 900], [1280, 800], [390, 844]] as const) {
  for (const scheme of ["light", "dark"] as const) {
    test(`has no violations, and nothing overflows: ${width} ${scheme}`, async () => {
      const { page: tab, wrong } = await lab.open(page, { viewport: { width, height }, colorScheme: scheme, bypassCSP: true });
      await tab.waitForTimeout(200);
      await picture(tab, `timeline-${width}-${scheme}`);
      const beyond = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(beyond, 0, "the page does not scroll sideways");
      assert.deepEqual(await misfits(tab), [], "everything fits, or says that it does not");
      assert.deepEqual(await violations(tab), []);
      assert.deepEqual(wrong, []);
      await tab.context().close();
    });
  }
}

test("hostile names stay text", async () => {
  const evil = "</script><img src=x onerror=alert(1)>\u202e";
  const script = lab.write("evil.py", `evil = ${JSON.stringify(evil)}\nlanes = the_execution.breakpoints("collect").map(lambda snap: evil)\nglobals()[evil] = lanes\n`);
  const out = join(lab.folder, "evil.html");
  const ran = spawnSync(PARALLAX, ["timeline", "collector.rec", "--script", script, "-o", out, "--moments", "20"], { cwd: lab.folder, encoding: "utf8", env: { ...process.env, PARALLAX_PYTHON: python } });
  assert.equal(ran.status, 0, ran.stderr);
  const { page: tab, wrong } = await lab.open(`file://${out}`);
  assert.equal(await tab.locator(".lane img").count(), 0);
  assert.equal(await tab.locator("img").count(), 0);
  assert.ok((await tab.locator(".lane .lh-top b").allInnerTexts()).some(name => name.includes("onerror=alert(1)")));
  assert.deepEqual(wrong, []);
  await tab.context().close();
});

test("a lane that was cut says where it ends, and what came last there is unknown", async () => {
  // As the command writes it where a lane has more items than it holds.
  const whole = readFileSync(new URL(page), "utf8"), cut = structuredClone(data);
  const lane: { name: string; times: number[]; cut?: boolean } = cut.lanes.find(one => one.name === "chunks_waiting")!, kept = Math.floor(lane.times.length / 2);
  const [all, end] = [lane.times.length, data.end];
  for (const [key, value] of Object.entries(lane)) if (Array.isArray(value) && value.length === all) (lane as unknown as Record<string, unknown>)[key] = value.slice(0, kept);
  lane.cut = true;
  const until = lane.times.reduce((sum, by) => sum + by, 0);
  const [before, , rest] = whole.split(/(<script[^>]*id="page"[^>]*>)[^<]*/) as [string, string, string];
  const [tag] = /<script[^>]*id="page"[^>]*>/.exec(whole)!;
  const out = lab.write("cut.html", `${before}${tag}${JSON.stringify(cut).replaceAll("<", "\\u003c")}${rest}`);
  const { page: tab, wrong } = await lab.open(`file://${out}#t=${end}&lane=0&from=1&to=${end}`, { viewport: { width: 1440, height: 900 } });
  const hatched = tab.locator(".watch .not-known");
  assert.match(await hatched.innerText(), new RegExp(`cut after ${kept} items`));
  const [box, track] = [(await hatched.boundingBox())!, (await tab.locator(".watch .track").first().boundingBox())!];
  assert.ok(Math.abs(box.x - track.x - track.width * (until - 1) / (end - 1)) < 3, "it begins where the lane ends");
  assert.ok(Math.abs(box.x + box.width - track.x - track.width) < 3);
  await tab.keyboard.press("w");
  await tab.waitForFunction(() => /not known/.test(document.querySelector(".status [role=status]")?.textContent ?? ""));
  for (const who of await tab.locator(".moment .lw").allInnerTexts()) assert.match(who, /not known/);
  await picture(tab, "timeline-cut");
  assert.deepEqual(await misfits(tab), []);
  assert.deepEqual(wrong, []);
  await tab.context().close();
});

test("times outside the run are refused, and the place of the window is kept", async () => {
  const { page: tab } = await lab.open(`${page}#t=${data.end + 5}&from=${data.end + 1}&to=${data.end + 9}`);
  await tab.waitForFunction(() => /There is no moment .* and window/.test(document.querySelector(".status [role=status]")?.textContent ?? ""));
  const [from, to] = [Math.round(data.end / 4), Math.round(data.end / 2)];
  await tab.goto("about:blank");
  await tab.goto(`${page}#t=${from + 3}&lane=1&from=${from}&to=${to}`);
  await tab.keyboard.press(".");
  await tab.waitForTimeout(300);
  await tab.reload();
  const kept = new URLSearchParams((await tab.evaluate(() => location.hash)).slice(1));
  assert.deepEqual([kept.get("lane"), kept.get("from"), kept.get("to")], ["1", String(from), String(to)]);
  await tab.context().close();
});

test("a run that a signal ended opens where it ended, and names the signal", async () => {
  const source = join(ROOT, "corpus/demo/stock.c"), program = join(lab.folder, "stock");
  assert.equal(spawnSync("gcc", ["-g", "-O0", "-w", "-o", program, source]).status, 0);
  spawnSync(PARALLAX, ["record", "-o", "stock.rec", "--", program], { cwd: lab.folder, input: "aAaBdBsA" });
  const script = lab.write("stock.py", 'first = the_execution.breakpoints("main")\n');
  const out = join(lab.folder, "stock.html");
  const ran = spawnSync(PARALLAX, ["timeline", "stock.rec", "--script", script, "-o", out, "--json"], { cwd: lab.folder, encoding: "utf8", env: { ...process.env, PARALLAX_PYTHON: python } });
  assert.equal(ran.status, 0, ran.stderr);
  const { end, ending } = JSON.parse(ran.stdout) as { end: number; ending: { words: string; signal: string } };
  assert.equal(ending.signal, "SIGSEGV");
  for (const [width, height] of [[1440, 900], [390, 844]] as const) {
    const { page: tab, wrong } = await lab.open(`file://${out}`, { viewport: { width, height } });
    await tab.waitForTimeout(200);
    await picture(tab, `timeline-crash-${width}`);
    assert.match(await status(tab), new RegExp(`^Moment ${grouped(end)}, SIGSEGV, T0, stock.c:\\d+`));
    assert.equal(await tab.innerText(".moment .col-head .killed"), "SIGSEGV");
    const functions = await tab.locator(".moment .frame[data-function]").evaluateAll(frames => frames.map(one => (one as HTMLElement).dataset["function"]));
    assert.ok(functions.includes("sell") && functions.includes("main"), functions.join(", "));
    assert.ok(await tab.locator(".moment .line.now").isVisible());
    assert.deepEqual(await misfits(tab), [], `${width}: everything fits, or says that it does not`);
    // Elsewhere it is no crash, and the way back is one press.
    if (width > 1000) {
      await tab.keyboard.press("k");
      await tab.waitForFunction(() => / in first$/.test(document.querySelector(".status [role=status]")?.textContent ?? ""));
      assert.equal(await tab.locator(".moment .killed").count(), 0);
      await tab.click(".topbar .killed");
      assert.match(await status(tab), /, SIGSEGV, /);
    }
    assert.deepEqual(wrong, []);
    await tab.context().close();
  }
});
