// What section 2.2 of the chapter asks for: side by side, inlined, folded, searched, revealed, linked.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { LADLE, Lab, RACE, column, picture, shownLines } from "./harness.ts";

const lab = new Lab();
let address = "";
before(() => { address = lab.view([RACE], "--src", LADLE); });
after(() => lab.close());

async function race(check: (page: Page) => Promise<void>, options = {}): Promise<void> {
  const { page, wrong } = await lab.open(address, options);
  await check(page);
  assert.deepEqual(wrong, []);
  await page.context().close();
}
const text = (page: Page, selector: string) => page.locator(selector).first().innerText();

test("paths stand side by side, each with its own scroll and a capped width", () => race(async page => {
  await picture(page, "race-light");
  const boxes = await page.locator(".path-column").evaluateAll(columns => columns.map(one => { const { left, width, top } = one.getBoundingClientRect(); return { left, width, top }; }));
  assert.equal(boxes.length, 2);
  assert.equal(boxes[0]!.top, boxes[1]!.top);
  assert.ok(boxes[1]!.left >= boxes[0]!.left + boxes[0]!.width - 1);
  assert.ok(boxes.every(box => box.width <= 960));
  await page.setViewportSize({ width: 1200, height: 700 });
  const moved = await page.locator(".scroller").evaluateAll(all => { all[0]!.scrollLeft = 80; all[0]!.scrollTop = 200; return all.map(one => [one.scrollLeft, one.scrollTop]); });
  assert.ok(moved[0]![0]! > 0 && moved[0]![1]! > 0);
  assert.deepEqual(moved[1], [0, 0]);
}));

test("columns can be hidden and reordered", () => race(async page => {
  const order = () => page.locator(".path-column").evaluateAll(columns => columns.filter(one => !(one as HTMLElement).hidden).map(one => (one as HTMLElement).dataset["path"]).join(""));
  assert.equal(await order(), "12");
  await page.click(`${column(1)} [title^="Move column"]`);
  assert.equal(await order(), "21");
  await page.click(`${column(2)} [title="Hide column"]`);
  assert.equal(await order(), "1");
  await page.click('[data-col="1"]');
  assert.equal(await order(), "1", "the last column stays");
  await page.click('[data-col="2"]');
  assert.equal(await order(), "21");
}));

test("callees are boxed under their call, recursively, across files, a hue per depth", () => race(async page => {
  const chain = await page.locator(`${column(2)} .frame`).evaluateAll(frames => frames.map(one => {
    const { dataset, parentElement, previousElementSibling } = one as HTMLElement;
    let before = previousElementSibling;
    while (before?.matches("[hidden]")) before = before.previousElementSibling;
    return [dataset["function"], dataset["file"], dataset["depth"], (parentElement!.closest(".frame") as HTMLElement | null)?.dataset["function"] ?? "", before?.querySelector("code")?.textContent?.trim() ?? ""];
  }));
  assert.deepEqual(chain, [
    ["main", "main.c", "0", "", ""],
    ["resume_download", "fetch.c", "1", "main", "failed = resume_download(&job);"],
    ["worker_main", "fetch.c", "2", "resume_download", "pthread_create(&tid[i], NULL, worker_main, p);"],
    ["part_fetch", "fetch.c", "3", "worker_main", "if (part_fetch(p) == 0)"],
    ["part_drain", "fetch.c", "4", "part_fetch", "rc = part_drain(p, fd);"],
    ["meter_add", "meter.c", "5", "part_drain", "meter_add(n);"],
  ]);
  const colours = await page.locator(`${column(2)} .frame`).evaluateAll(frames => frames.map(one => getComputedStyle(one).backgroundColor));
  assert.equal(new Set(colours).size, 6);
  const lefts = await page.locator(`${column(2)} .frame`).evaluateAll(frames => frames.map(one => one.getBoundingClientRect().left));
  assert.ok(lefts.every((left, at) => at === 0 || left > lefts[at - 1]!));
  assert.equal(await page.locator(".frame.thread").count(), 2);
  assert.match(await text(page, `${column(2)} .frame.thread > .frame-head`), /new thread T2 to T5/);
}));

test("only the path and what frames it is on screen; the rest is there, hidden", () => race(async page => {
  assert.deepEqual(await shownLines(page, `${column(1)} .frame[data-function="ticker_main"]`), [70, 81, 83, 84, 85, 88, 89, 92]);
  assert.deepEqual(await shownLines(page, `${column(1)} .frame[data-function="meter_rate"]`), [41, 45, 50, 52]);
  const frame = page.locator(`${column(1)} .frame[data-function="meter_rate"] > .body`);
  assert.equal(await frame.locator('.line[data-relevant="false"][hidden]').count(), 8);
  assert.equal(await frame.locator('.line[data-relevant="true"]').count(), 4);
  assert.match(await text(page, `${column(1)} .frame[data-function="meter_rate"] > .frame-head .shown`), /4 of 12 lines/);
  assert.match(await text(page, `${column(1)} .count`), /27 of 111 lines/);
}));

test("a click unfolds a gap, a function or a whole path, in grey", () => race(async page => {
  const frame = `${column(1)} .frame[data-function="meter_rate"]`;
  const ink = (line: number) => page.locator(`${frame} > .body > .line[data-line="${line}"] code`).evaluate(code => getComputedStyle(code).color);
  await page.locator(`${frame} > .body > .fold`).first().click();
  assert.deepEqual(await shownLines(page, frame), [41, 42, 43, 44, 45, 50, 52]);
  assert.notEqual(await ink(42), await ink(45));
  await page.click(`${frame} > .frame-head .unfold`);
  assert.equal((await shownLines(page, frame)).length, 12);
  await page.click(`${frame} > .frame-head .unfold`);
  assert.deepEqual(await shownLines(page, frame), [41, 45, 50, 52]);
  await page.click(`${column(1)} [title^="Unfold everything"]`);
  assert.match(await text(page, `${column(1)} .count`), /^111 lines/);
  await picture(page, "race-unfolded");
}));

test("a term of a checklist that matches everywhere opens nothing unasked, and the first step is in sight", async () => {
  const code = ["int main(void) {", ...Array.from({ length: 60 }, (_, at) => [`    if (g(${at})) {`, `        free(p${at});`, "    }", "", `    h(${at});`]).flat(), "    return *p0;", "}"];
  lab.write("many/many.c", code.join("\n") + "\n");
  const last = code.length - 1;
  const report = { title: "Use after free of 'p0'", rule: "use-after-free", severity: "error", tool: { name: "probe" }, location: { file: "many.c", line: last },
    paths: [{ frames: [{ function: "main", file: "many.c" }], steps: [{ frame: 0, location: { file: "many.c", line: last }, failing: true }] }] };
  const { page, wrong } = await lab.open(lab.view([lab.write("many.json", { format: "parallax-report/1", reports: [report] })], "--src", `${lab.folder}/many`));
  const frame = ".frame[data-function=main]", chip = '.query-chip[data-query="free"]';
  const inSight = () => page.evaluate(() => { const at = document.querySelector(".step[data-index]")?.getBoundingClientRect(); return !!at && at.top > 0 && at.bottom < innerHeight; });
  assert.match(await text(page, chip), /60 folded/);
  assert.deepEqual(await shownLines(page, frame), [1, last, last + 1]);
  assert.ok(await inSight());
  // Asked for, they all are there, and then a click goes from one to the next.
  await page.click(`${chip} .go`);
  assert.match(await text(page, chip), /free\s*60$/);
  assert.ok((await shownLines(page, frame)).length > 180);
  await page.click(`${chip} .go`);
  assert.equal(await page.locator("mark.now").count(), 1);
  // What the reader looks for is shown however often it is there; and a page that opens so begins at the step.
  await page.goto(page.url().replace(/#.*|$/, "#R-01&q=if"));
  await page.reload();
  assert.match(await text(page, '.query-chip[data-query="if"]'), /if\s*60$/);
  assert.ok(await inSight(), "the first step is in sight");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("several terms at once, each its colour, each removable; matches unfold with their blocks", () => race(async page => {
  const chips = () => page.locator(".query-chip").evaluateAll(all => all.map(one => (one as HTMLElement).dataset["query"]));
  assert.deepEqual(await chips(), ["pthread_create", "pthread_join", "pthread_mutex_lock", "pthread_mutex_unlock"], "presets of the rule");
  assert.ok((await shownLines(page, `${column(1)} .frame[data-function="main"]`)).includes(93), "pthread_join is on screen though on no path");
  assert.ok((await shownLines(page, `${column(1)} .frame[data-function="main"]`)).includes(91), "with its guard");
  await page.keyboard.press("/");
  await page.keyboard.type("nthreads");
  await page.keyboard.press("Enter");
  await page.keyboard.type("/p->(pos|end)/");
  await page.keyboard.press("Enter");
  assert.equal((await chips()).length, 6);
  await picture(page, "race-search");
  const marks = await page.locator("mark").evaluateAll(all => Object.fromEntries(all.map(one => { const style = getComputedStyle(one); return [(one as HTMLElement).dataset["query"], `${style.backgroundColor} ${style.borderBottomStyle}`]; })));
  assert.equal(new Set(Object.values(marks)).size, 6, "colour and line style tell them apart");
  assert.ok((await shownLines(page, `${column(2)} .frame[data-function="part_drain"]`)).includes(20));
  assert.ok((await shownLines(page, `${column(1)} .frame[data-function="main"]`)).includes(73));
  await page.click('.query-chip[data-query="pthread_join"] .x');
  await page.click('.query-chip[data-query="nthreads"] .x');
  assert.ok(!(await shownLines(page, `${column(1)} .frame[data-function="main"]`)).some(line => line === 93 || line === 73));
  await page.fill("#term", "/(/");
  await page.press("#term", "Enter");
  assert.equal(await page.getAttribute("#term", "aria-invalid"), "true");
  assert.equal((await chips()).length, 4);
  await page.press("#term", "Escape");
  await page.keyboard.press("n");
  assert.equal(await page.locator("mark.now").count(), 1);
  assert.match(await text(page, "#where"), /pthread_create at main\.c:81, 1 of \d+ matches/);
}));

test("a click on a name reveals its definition under the line: variable, function, macro, type", () => race(async page => {
  const reveal = async (line: string, name: string) => {
    await page.locator(`${column(2)} ${line} .id`, { hasText: new RegExp(`^${name}$`) }).first().click();
    return page.locator(`${column(2)} .definition[data-name="${name}"]`);
  };
  const variable = await reveal('.line.step[data-line="92"]', "nthreads");
  assert.match(await variable.innerText(), /variable\s+main\.c[\s\S]*Number of parts[\s\S]*int nthreads = 4;/);
  assert.equal(await variable.evaluate(box => (box.previousElementSibling as HTMLElement).dataset["line"]), "92", "inlined under its use");
  await picture(page, "race-definition");
  const macro = await reveal('.line.step[data-line="44"]', "MAX_TRIES");
  assert.match(await macro.innerText(), /macro\s+ladle\.h[\s\S]*#define MAX_TRIES/);
  const called = await reveal('.frame[data-function="main"] > .body > .line.step[data-line="84"]', "load_state");
  assert.match(await called.innerText(), /function\s+state\.c[\s\S]*fopen/);
  await page.click(`${column(2)} .frame[data-function="worker_main"] > .frame-head .unfold`);
  const type = await reveal('.frame[data-function="worker_main"] > .body > .line[data-line="41"]', "part");
  assert.match(await type.innerText(), /type\s+ladle\.h[\s\S]*off_t pos, end;/);
  await variable.locator(".close").click();
  assert.equal(await variable.count(), 0);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".definition").count(), 2);
}));

test("the report's own text links to the steps, and the steps back to it", () => race(async page => {
  assert.match(await text(page, ".report-text"), /Warning: possible data race: window_bytes:meter\.c:10 is not protected!/);
  await page.click('.report-text .ref[data-path="2"][data-index="5"]');
  const step = `${column(2)} .step[data-index="5"]`;
  assert.ok(await page.locator(step).evaluate(one => one.classList.contains("current") && document.activeElement === one));
  await page.hover(`${column(1)} .step[data-index="8"]`);
  assert.deepEqual(await page.locator(".ref.linked").evaluateAll(all => all.map(one => [(one as HTMLElement).dataset["path"], (one as HTMLElement).dataset["index"]])), [["1", "8"]]);
  await page.click(`${column(1)} .step[data-index="8"] .no`);
  assert.deepEqual(await page.locator(".ref.current").evaluateAll(all => all.map(one => (one as HTMLElement).dataset["index"])), ["8"]);
  await page.hover('.report-text .ref[data-path="2"][data-index="2"]');
  assert.ok(await page.locator(`${column(2)} .step[data-index="2"]`).evaluate(one => one.classList.contains("linked")));
  await page.click(".report-text .marker");
  assert.match(await text(page, ".definition"), /related place[\s\S]*static size_t window_bytes/);
}));

test("what is known at a step stands at the end of its line; the racing access is underlined", () => race(async page => {
  assert.match(await text(page, `${column(1)} .step[data-index="4"] .note`), /taken\s+sig = 14/);
  assert.match(await text(page, `${column(1)} .step[data-index="9"] .note`), /not taken\s+dt = 1\.0/);
  assert.match(await text(page, `${column(1)} .step[data-index="2"] .note`), /starts T1/);
  assert.match(await text(page, `${column(1)} .step[data-index="10"] .note`), /write, no lock held/);
  for (const number of [1, 2]) {
    const access = page.locator(`${column(number)} .step.access code .access`);
    assert.equal(await access.innerText(), "window_bytes");
    assert.match(await access.evaluate(one => getComputedStyle(one).textDecorationLine), /underline/);
  }
  const shapes = await page.locator(`${column(1)} .badge`).evaluateAll(all => new Set(all.map(one => { const style = getComputedStyle(one); return `${style.clipPath !== "none"} ${style.borderRadius}`; })).size);
  assert.equal(shapes, 3, "call, condition and access differ in shape, not only in colour");
}));

test("heads stick and stack: scrolled, they are the call stack", () => race(async page => {
  await page.setViewportSize({ width: 1680, height: 600 });
  await page.keyboard.press("a");
  const heads = await page.locator(`${column(1)} .frame-head .fn`).evaluateAll(all => all.map(one => one.getBoundingClientRect().top));
  assert.ok(heads.every((top, at) => at === 0 || top > heads[at - 1]!), heads.join(" "));
  assert.ok(heads[0]! >= 100, "the outermost head is still on screen");
}));
