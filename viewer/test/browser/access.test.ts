// Everything without a mouse, in light and dark, on paper, and for those who cannot see it.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { KEYS } from "../../src/views/help.ts";
import { violations } from "./axe.ts";
import { LADLE, Lab, RACE, column, picture, shownLines } from "./harness.ts";

const lab = new Lab();
let address = "";
before(() => { address = lab.view([RACE, RACE], "--src", LADLE); });
after(() => lab.close());

const current = (page: Page) => page.locator(".line.current").evaluateAll(all => all.map(one => `${(one.closest(".path-column") as HTMLElement).dataset["path"]}.${(one as HTMLElement).dataset["index"]}`).join(" "));

test("steps, paths, folds, definitions, search, checklist, reports: all by key", async () => {
  const { page, wrong } = await lab.open(address);
  const press = async (...keys: string[]) => { for (const key of keys) await page.keyboard.press(key); };
  assert.equal(await current(page), "1.1");
  await press("j", "j", "j", "k");
  assert.equal(await current(page), "1.3");
  await press("l", "j");
  assert.equal(await current(page), "2.2");
  await press("h");
  assert.equal(await current(page), "1.3", "each path remembers its step");
  await press("a");
  assert.equal(await current(page), "1.10");
  await press("g", "ArrowDown");
  assert.equal(await current(page), "1.2");
  await press("e");
  assert.equal((await shownLines(page, `${column(1)} .frame[data-function="main"]`)).length, 39);
  await press("e", "E");
  assert.match(await page.innerText(`${column(1)} .count`), /^111 lines/);
  await press("E", "l", "g", "j", "j", "d");
  assert.equal(await page.locator(".definition").count(), 1);
  await press("Escape");
  assert.equal(await page.locator(".definition").count(), 0);
  await press("L");
  assert.equal(await page.locator(".path-column").first().getAttribute("data-path"), "2");
  await press("H");
  assert.equal(await page.locator(".path-column").first().getAttribute("data-path"), "1");
  await press("/");
  await page.keyboard.type("total");
  await press("Enter", "Escape", "n", "n", "N");
  assert.match(await page.innerText("#where"), /1 of \d+ match/);
  await press("p");
  assert.ok(!(await page.locator(".side").isVisible()));
  await press("p", "c");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "tab-0");
  await press("ArrowRight");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "tab-1");
  await press("Tab", "Space");
  assert.ok(await page.locator('[data-question="path-2.loop"] input:checked').count(), "a radio button is chosen by key");
  await press("U");
  assert.ok(await page.locator("input[name=verdict][value=unsure]").isChecked());
  await press("Control+Enter");
  assert.match(await page.innerText("#where"), /Not all questions/);
  await press("]");
  assert.equal(await page.innerText("#crumb"), "R-02");
  await press("]");
  assert.match(await page.innerText("#where"), /last report/);
  await press("[", "b", "j", "Enter");
  assert.equal(await page.innerText("#crumb"), "R-02");
  await press("?");
  assert.ok(await page.locator("#help").isVisible());
  await picture(page, "help");
  const listed = KEYS.flatMap(([, rows]) => rows.map(([keys]) => keys.replaceAll(" ", "")));
  const said = (await page.locator("#help dt").allInnerTexts()).map(keys => keys.replace(/\s/g, ""));
  assert.deepEqual(said.slice(0, listed.length), listed);
  await press("Escape");
  assert.ok(!(await page.locator("#help").isVisible()));
  assert.deepEqual(wrong, []);
  await page.context().close();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing to complain about, ${colorScheme}, in report and list`, async () => {
    const { page } = await lab.open(`${address}#R-01&q=nthreads`, { colorScheme, bypassCSP: true });
    for (const view of ["report", "list"]) {
      if (view === "list") await page.keyboard.press("b");
      else { await page.locator(`${column(2)} .line:not([hidden]) .id`).first().click(); await page.click(`${column(1)} .unfold`); }
      await picture(page, `${view}-${colorScheme}`);
      assert.deepEqual(await violations(page), []);
    }
    await page.context().close();
  });
}

test("the theme follows the system until it is chosen", async () => {
  const { page } = await lab.open(address, { colorScheme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.click("[data-act=theme]");
  assert.notEqual(await ground(), dark);
  await page.emulateMedia({ colorScheme: "light" });
  await page.click("[data-act=theme]");
  assert.equal(await ground(), dark);
  await page.context().close();
});

test("on paper stand the paths, the report and every tab, without the controls", async () => {
  const { page } = await lab.open(address);
  await page.emulateMedia({ media: "print" });
  for (const gone of [".querybar", ".status", ".pager", ".tools", ".v-submit"]) assert.ok(!(await page.locator(gone).first().isVisible()), gone);
  for (const there of [".path-column .frame", ".report-text", "#panel-0", "#panel-1", "#panel-2"]) assert.ok(await page.locator(there).first().isVisible(), there);
  assert.equal(await page.locator(".scroller").first().evaluate(one => getComputedStyle(one).overflow), "visible");
  const pdf = await page.pdf({ preferCSSPageSize: true });
  assert.ok(pdf.length > 20_000);
  await picture(page, "print");
  await page.context().close();
});

test("a narrow window keeps everything reachable", async () => {
  const { page, wrong } = await lab.open(address, { viewport: { width: 800, height: 700 } });
  await picture(page, "narrow");
  assert.ok(await page.locator(".side").isVisible());
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.keyboard.press("a");
  assert.equal(await current(page), "1.10");
  assert.deepEqual(wrong, []);
  await page.context().close();
});
