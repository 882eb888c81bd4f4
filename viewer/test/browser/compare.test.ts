// Two paths compared, loops and values, reports by likeness, links that can be sent, and the phone.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { Lab, picture } from "./harness.ts";

const lab = new Lab();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const CODE = ["int total(int *values, int n) {", "  int sum = 0;", "  for (int i = 0; i < n; i++)", "    sum += values[i];", "  if (sum > 9)", "    sum = 9;", "  check(sum);", "  close(n);", "  close(sum);", "  return sum;", "}"].join("\n") + "\n";

const at = (line: number, more: object = {}) => ({ frame: 0, location: { file: "t.c", line }, ...more });
const value = (name: string, text: string) => ({ values: [{ name, value: text }] });
const report = (title: string, steps: object[], more: object = {}) => ({ title, rule: "limit", severity: "error", tool: { name: "probe" }, location: { file: "t.c", line: 7 }, paths: [{ frames: [{ function: "total", file: "t.c" }], steps }], ...more });
const failing = report("Sum is wrong", [at(2, value("sum", "0")), at(3), at(4, value("sum", "4")), at(3), at(4, value("sum", "8")), at(3), at(4, value("sum", "12")), at(5, { role: "branch", taken: true }), at(6, value("sum", "9")), at(7, { failing: true, message: "too small" })]);
const good = report("Sum is right", [at(2, value("sum", "0")), at(3), at(4, value("sum", "4")), at(5, { role: "branch", taken: false }), at(7)], { title: "Sum is right" });
const lint = (line: number, number: number) => ({ title: `Result of 'close' ignored (${number})`, rule: "unchecked", severity: "warning", tool: { name: "lint" }, location: { file: "t.c", line } });

let pair = "", many = "";
before(() => {
  lab.write("src/t.c", CODE);
  pair = lab.view([lab.write("pair.json", { format: "parallax-report/1", reports: [failing, good] })], "--src", `${lab.folder}/src`);
  many = lab.view([lab.write("many.json", { format: "parallax-report/1", reports: [failing, ...Array.from({ length: 59 }, (_, number) => lint(8 + (number % 2), number))] })], "--src", `${lab.folder}/src`);
});
after(() => lab.close());

/** What axe finds, as `rule: element`. */
async function complaints(page: Page): Promise<string[]> {
  const found = await page.evaluate(`(() => { ${axe}; return axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }).then(r => r.violations.flatMap(v => v.nodes.slice(0, 3).map(n => v.id + ": " + n.html.slice(0, 120)))); })()`);
  return found as string[];
}

test("two paths stand in step, part at a black bar, and the differences are in reach", async () => {
  const { page, wrong } = await lab.open(`${pair}#R-01/1:R-02/1`, { viewport: { width: 1280, height: 800 } });
  assert.match(await page.innerText(".lead"), /^Alike for \d+ steps?\./);
  const letters = await page.locator(".side-l").allInnerTexts();
  assert.deepEqual(letters, ["A", "B"]);
  for (const head of await page.locator(".cmp-head h2, .cmp-head .pick").all()) assert.ok(await head.isVisible());
  // The failing end and the good end are the same line, so they are on the same height.
  const top = (side: string) => page.locator(`[data-side="${side}"] .line[data-line="7"].step`).evaluate(line => Math.round(line.getBoundingClientRect().top));
  assert.equal(await top("A"), await top("B"));
  assert.ok(await page.locator(".divband").isVisible());
  assert.ok(await page.locator('[data-side="A"] .only-tag').count() > 0, "lines that A alone takes are marked");
  const all = await page.innerText("#difference");
  await page.keyboard.press("n");
  assert.notEqual(await page.innerText("#difference"), all);
  await page.keyboard.press("D");
  assert.ok(await page.locator(".step.dv").first().isVisible());
  await page.keyboard.press("s");
  assert.match(await page.locator(".cmp-head .pick").first().innerText(), /^R-02/, "sides are swapped");
  await picture(page, "compare-1280");
  assert.deepEqual(await complaints(page), []);
  await page.keyboard.press("Escape");
  assert.equal(await page.getAttribute("body", "data-view"), "report");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

/** Labels of a comparison that are cut, or lie outside their column: words of the element, and how far out. */
const outside = (page: Page): Promise<string[]> => page.locator(".cmp-grid .note, .cmp-grid .cond, .cmp-grid .loop, .cmp-grid .res, .cmp-grid .only-tag, .cmp-grid .frame-head .fn, .cmp-grid .shown, .cmp-grid .tag, .cmp-grid .frame, .cmp-head .side-l, .cmp-head h2, .cmp-head .pick, .cmp-head .count").evaluateAll(all => all.flatMap(one => {
  const box = one.getBoundingClientRect(), around = (one.parentElement!.closest(".frame, .scroller, .cmp-head"))!.getBoundingClientRect();
  const cut = one.matches(".note, .frame") ? 0 : one.scrollWidth - Math.ceil(box.width);
  return box.width > 0 && (box.left < around.left - 1 || box.right > around.right + 1 || cut > 1) ? [`${one.className} ${(one as HTMLElement).innerText.slice(0, 40)}: ${Math.round(box.left)} to ${Math.round(box.right)} of ${Math.round(around.left)} to ${Math.round(around.right)}, ${cut} cut`] : [];
}));

test("whatever the code is, labels and boxes are in sight from 1280 on, and a column can be made wider", async () => {
  const long = "someone_wrote_a_name(of_many_words, and_then_more_of_them, until_it_was_wider_than_half_of_any_window)";
  const names = ["main", "a_function_that_is_called_like_this", "another_one_of_the_kind", "and_the_third_of_them", "the_innermost_function_of_all"];
  lab.write("src/wide.c", names.map(name => `int ${name}(int n) {\n  if (n > 0 && ${long} > 1)\n    return ${long};\n  return n;\n}\n`).join(""));
  const place = (frame: number, line: number, more: object = {}) => ({ frame, location: { file: "wide.c", line: frame * 5 + line }, ...more });
  const path = (bad: boolean) => ({ frames: names.map((name, at) => ({ function: name, file: "wide.c", ...(at && { call: at * 2 - 1 }), ...(at === 2 && { thread: "T7" }) })), steps: [
    ...names.slice(0, -1).flatMap((_, at) => [place(at, 2, { role: "branch", taken: true }), place(at, 3, { role: "call", message: "calls what stands in the next box, with what it was given" })]),
    place(4, 2, { role: "branch", taken: bad, ...value("n", bad ? "2147483647" : "-2147483648") }), ...(bad ? [place(4, 3, { failing: true, message: "the sum does not fit into an int, which nobody expected" })] : [place(4, 4, value("n", "1"))])] });
  const one = (title: string, bad: boolean) => ({ ...report(title, [], { passed: !bad }), paths: [path(bad)], location: { file: "wide.c", line: 23 } });
  const address = lab.view([lab.write("wide.json", { format: "parallax-report/1", reports: [one("A sum that is too large for anything", true), one("A sum that fits", false)] })], "--src", `${lab.folder}/src`);
  const { page, wrong } = await lab.open(`${address}#R-01/1:R-02/1`, { viewport: { width: 1280, height: 900 } });
  for (const width of [1280, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    assert.deepEqual(await outside(page), [], `${width} wide`);
    await page.keyboard.press("C");
    assert.deepEqual(await outside(page), [], `${width} wide, every call in its box`);
    await page.keyboard.press("C");
    await picture(page, `compare-wide-${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  const width = () => page.locator('.path-column[data-side="A"]').evaluate(column => Math.round(column.getBoundingClientRect().width));
  const equal = await width();
  await page.locator(".rail").press("ArrowRight");
  assert.ok(await width() > equal + 20, "by key");
  assert.deepEqual(await outside(page), [], "a narrower column keeps its labels");
  await page.locator(".rail").dblclick();
  assert.equal(await width(), equal, "a double click makes them equal");
  const rail = (await page.locator(".rail").boundingBox())!;
  await page.mouse.move(rail.x + 38, rail.y + 300);
  await page.mouse.down();
  await page.mouse.move(rail.x - 62, rail.y + 300, { steps: 4 });
  await page.mouse.up();
  assert.ok(Math.abs(await width() - (equal - 100)) < 3, "by hand, and the rail stays under it");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("long paths scroll together, and the view opens where they part", async () => {
  const lines = Array.from({ length: 400 }, (_, at) => `  work(${at + 1});`);
  lab.write("src/long.c", ["int total(int *values, int n) {", ...lines, "}"].join("\n") + "\n");
  const long = (to: number, title: string, more: object = {}) => ({ ...report(title, [...Array.from({ length: 60 }, (_, at) => ({ frame: 0, location: { file: "long.c", line: 3 + at * 3 } })), ...Array.from({ length: 10 }, (_, at) => ({ frame: 0, location: { file: "long.c", line: to + at * 3 } }))], more), location: { file: "long.c", line: 3 } });
  const address = lab.view([lab.write("long.json", { format: "parallax-report/1", reports: [long(200, "Bad"), long(300, "Good", { passed: true })] })], "--src", `${lab.folder}/src`);
  const { page, wrong } = await lab.open(`${address}#R-01/1:R-02/1`, { viewport: { width: 1280, height: 800 } });
  const scrolled = () => page.locator(".cmp-grid .scroller").evaluateAll(all => all.map(one => [Math.round(one.scrollTop), one.clientHeight < innerHeight] as const));
  const [a, b] = await scrolled();
  assert.ok(a && b && a[0] > 100 && a[1] && b[1], `it scrolls: ${a?.join()} ${b?.join()}`);
  assert.equal(a[0], b[0], "in step");
  const bar = await page.locator(".divband").boundingBox(), first = await page.locator('.path-column[data-side="A"] .line.dv').boundingBox(), other = await page.locator('.path-column[data-side="B"] .line.dv').boundingBox();
  assert.ok(bar && first && other && bar.y > 150 && bar.y < 772, "the bar is in sight");
  assert.ok(bar.y <= first.y + 2 && bar.y <= other.y + 2, "and above the first steps that differ");
  await page.locator('.path-column[data-side="B"] .scroller').evaluate(one => { one.scrollTop = 40; });
  await page.waitForFunction(() => [...document.querySelectorAll(".cmp-grid .scroller")].every(one => Math.round(one.scrollTop) === 40));
  await page.keyboard.press("D");
  await page.waitForFunction(() => [...document.querySelectorAll(".cmp-grid .scroller")].every(one => one.scrollTop > 100));
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a path to compare with is picked from a list", async () => {
  const { page, wrong } = await lab.open(pair);
  await page.keyboard.press("v");
  await page.locator(".pick-row").first().click();
  assert.equal(await page.getAttribute("body", "data-view"), "compare");
  await page.click('[data-mode="differences"]');
  await page.click('[data-mode="apart"]');
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a loop is told once and opens; a value says what it was and leads back", async () => {
  const { page, wrong } = await lab.open(`${pair}#R-01`);
  assert.match(await page.locator(".loop").first().innerText(), /×3|×2/);
  const lines = await page.locator(".line.step").count();
  await page.keyboard.press("o");
  assert.deepEqual(await page.locator(".iters button").allInnerTexts().then(all => all.map(one => one.replace(/\s+/g, " "))), ["1 sum = 4", "2 sum = 8", "3 sum = 12", "all"], "iterations are told apart by what they change");
  await page.locator(".iters button", { hasText: "sum = 8" }).click();
  assert.match(await page.locator(".loop").first().innerText(), /2 shown/);
  assert.equal(await page.locator(".line.step").count(), lines, "another iteration takes the place of the last");
  await page.locator(".iters button", { hasText: "all" }).click();
  assert.ok(await page.locator(".line.step").count() > lines, "all iterations are there");
  assert.equal(await page.locator(".val.chg", { hasText: "12" }).first().locator("s").innerText(), "8");
  await page.locator(".val.chg", { hasText: "12" }).first().click();
  assert.match(await page.innerText("#where"), /step 5 of/);
  await page.keyboard.press("V");
  assert.equal(await page.getAttribute("body", "data-values"), "all");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("like reports are judged together, and one key takes it back", async () => {
  const { page, wrong } = await lab.open(many, { viewport: { width: 1440, height: 900 } });
  assert.equal(await page.getAttribute("body", "data-view"), "list", "hundreds are met as a list");
  await page.locator(".rr", { hasText: "unchecked" }).click();
  const group = page.locator(".cl").last();
  await group.click();
  await page.keyboard.press("F");
  assert.match(await page.innerText("#bulk-count"), /^59 of 59 selected$/);
  await page.fill("#bulk-reason", "nothing to do about it");
  await picture(page, "triage-bulk");
  assert.deepEqual(await complaints(page), []);
  await page.keyboard.press("Control+Enter");
  assert.match(await page.innerText("#list-progress"), /^59 of 60 triaged/);
  await page.keyboard.press("z");
  assert.match(await page.innerText("#list-progress"), /^0 of 60 triaged/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("after a verdict the next that waits is current, also where its rule was closed", async () => {
  const { page } = await lab.open(many, { viewport: { width: 1440, height: 900 } });
  // The first rule has one report; the other, closed, has fifty-nine alike.
  await page.locator(".rep").first().click();
  await page.keyboard.press("T");
  assert.ok(await page.locator(".cl.cur").isVisible(), "the next rule is open, its group is current");
  await page.keyboard.press("F");
  await page.keyboard.press("Control+Enter");
  assert.match(await page.innerText("#list-progress"), /^60 of 60 triaged/, "three keys for sixty reports");
  await page.context().close();
});

test("a group that was judged asks next for those of it that differ", async () => {
  lab.write("src/u.c", ["void f(int a, int b, int c, int d) {", "  close(a);", "  close(b);", "  int r = close(c);", "  close(d);", "}"].join("\n") + "\n");
  const at = (line: number) => ({ title: `Result of 'close' ignored (${line})`, rule: "unchecked", severity: "warning", tool: { name: "lint" }, location: { file: "u.c", line } });
  const address = lab.view([lab.write("differ.json", { format: "parallax-report/1", reports: [at(2), at(3), at(4), at(5)] })], "--src", `${lab.folder}/src`);
  const { page } = await lab.open(`${address}#list`);
  await page.locator('[data-group="rule"]').click();
  await page.locator(".cl").first().click();
  await page.keyboard.press("F");
  assert.match(await page.innerText("#bulk-count"), /^3 of 4 selected$/, "the one whose result is used is left out");
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("T");
  assert.match(await page.innerText("#bulk-count"), /^1 of 4 selected$/, "and is what is asked for next");
  await page.keyboard.press("Control+Enter");
  assert.match(await page.innerText("#list-progress"), /^4 of 4 triaged/);
  await page.context().close();
});

test("the address names the step, opening it selects it, and Back works", async () => {
  const { page, wrong } = await lab.open(`${pair}#R-01/1/10`);
  assert.match(await page.innerText("#where"), /step 10 of 10/);
  await page.keyboard.press("b");
  assert.match(page.url(), /#list$/);
  await page.goBack();
  assert.match(page.url(), /#R-01~[0-9a-f]{6}\/1\/10$/);
  assert.equal(await page.getAttribute("body", "data-view"), "report");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

for (const [name, hash] of [["path", "#R-01"], ["list", "#list"], ["compare", "#R-01/1:R-02/1"]] as const) {
  test(`nothing overflows on a phone: ${name}`, async () => {
    const { page, wrong } = await lab.open(`${pair}${hash}`, { viewport: { width: 390, height: 844 }, hasTouch: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${wide} px wide`);
    if (name === "path") {
      const title = await page.locator("#title").boundingBox();
      assert.ok((title?.width ?? 0) >= 200, "the title is readable");
      assert.ok(await page.locator(".path-column:not([hidden])").count() === 1, "one path at a time");
      const beyond = await page.locator(".path-column .line:not([hidden])").evaluateAll(lines => lines.filter(line => line.getBoundingClientRect().right > innerWidth + 1).length);
      assert.equal(beyond, 0, "lines wrap");
    }
    await picture(page, `phone-${name}`);
    assert.deepEqual(await complaints(page), []);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

test("on a phone a tap opens, a long press selects, swiping judges, and there is time to take it back", async () => {
  const { page, wrong } = await lab.open(`${many}#list`, { viewport: { width: 390, height: 844 }, hasTouch: true });
  await page.locator(".rr", { hasText: "unchecked" }).click();
  if (await page.locator(".rep").count() < 3) await page.locator(".cl").last().click();
  const row = page.locator(".rep").nth(2), id = (await row.getAttribute("data-report"))!;
  const mine = page.locator(`.rep[data-report="${id}"]`);
  /** A finger that goes down, moves in a few steps, and is lifted. */
  const finger = async (by: number, held = 0) => {
    const box = (await mine.boundingBox())!, y = box.y + box.height / 2;
    const send = (type: string, x: number) => mine.dispatchEvent(type, { pointerType: "touch", isPrimary: true, pointerId: 7, clientX: x, clientY: y, bubbles: true });
    await send("pointerdown", 200);
    for (const part of [0.2, 0.6, 1]) if (by) await send("pointermove", 200 + by * part);
    if (held) await page.waitForTimeout(held);
    await send("pointerup", 200 + by);
  };
  await finger(40);
  assert.equal(await mine.getAttribute("data-state"), "open", "not far enough");
  await finger(140);
  assert.equal(await mine.getAttribute("data-state"), "false");
  assert.match(await page.innerText(".toast"), /1 report false/);
  await page.locator(".toast button").click();
  assert.equal(await mine.getAttribute("data-state"), "open");
  await finger(-140);
  assert.equal(await mine.getAttribute("data-state"), "true");
  await finger(0, 650);
  assert.equal(await mine.getAttribute("aria-selected"), "true");
  assert.match(await page.innerText("#bulk-count"), /^1 of \d+ selected$/);
  const sizes = await page.locator(".rep, .rr, .filters .seg button, .vb, .toast button").evaluateAll(all => all.filter(one => (one as HTMLElement).offsetParent).map(one => Math.round(one.getBoundingClientRect().height)));
  assert.ok(Math.min(...sizes) >= 36, `targets: ${sizes.join(" ")}`);
  const title = await page.locator(".rr .rt").first().boundingBox();
  assert.ok((title?.width ?? 0) >= 100, "the rule's title is readable");
  await picture(page, "phone-triage");
  assert.deepEqual(await complaints(page), []);
  await page.keyboard.press("Escape");
  await mine.tap();
  assert.equal(await page.getAttribute("body", "data-view"), "report");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("on a phone the step, its neighbours, its call stack, the report and the checklist are in reach of a thumb", async () => {
  const { page, wrong } = await lab.open(`${pair}#R-01/1/5`, { viewport: { width: 390, height: 844 }, hasTouch: true });
  const sheet = page.locator(".sheet");
  assert.match(await sheet.innerText(), /step \d+ of 10/);
  assert.match(await page.innerText(".stackbar"), /total/);
  const at = () => page.innerText("#where"), before = await at();
  await sheet.getByRole("button", { name: "Next" }).tap();
  assert.notEqual(await at(), before);
  await sheet.getByRole("button", { name: "Access" }).tap();
  assert.match(await at(), /step 10 of 10/);
  assert.ok(await sheet.getByRole("button", { name: "Next" }).isDisabled(), "it was the last");
  for (const [part, element] of [["Report", ".report-card"], ["Checklist", ".checklist"], ["Verdict", ".verdict"], ["Path", ".path-column"]] as const) {
    await sheet.getByRole("button", { name: new RegExp(`^${part}`) }).tap();
    assert.ok(await page.locator(element).first().isVisible(), part);
    assert.deepEqual(await complaints(page), [], part);
  }
  const low = await sheet.locator("button").evaluateAll(all => Math.min(...all.filter(one => (one as HTMLElement).offsetParent).map(one => one.getBoundingClientRect().height)));
  assert.ok(low >= 44, `targets of ${low}`);
  await picture(page, "phone-sheet");
  assert.deepEqual(wrong, []);
  await page.context().close();
});
