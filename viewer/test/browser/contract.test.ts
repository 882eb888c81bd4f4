// The elements and attributes that others may rely on to script the page, wherever it comes from.

import assert from "node:assert/strict";
import test, { after } from "node:test";
import type { Page } from "playwright-core";
import { LADLE, Lab, RACE, picture } from "./harness.ts";

const lab = new Lab();
after(() => lab.close());

/** What breaks the contract on a page with a report open; nothing, it is hoped. */
const broken = (page: Page): Promise<string[]> => page.evaluate(() => {
  const wrong: string[] = [];
  const all = (selector: string, within: ParentNode = document) => [...within.querySelectorAll<HTMLElement>(selector)];
  const each = (selector: string, least: number, check: (element: HTMLElement) => boolean) => {
    const found = all(selector);
    if (found.length < least) wrong.push(`${found.length} of ${selector}`);
    for (const element of found) if (!check(element)) { wrong.push(`${selector}: ${element.outerHTML.slice(0, 200)}`); break; }
  };
  const has = (element: HTMLElement, ...names: string[]) => names.every(name => element.dataset[name] !== undefined);
  each(".path-column", 2, column => Number(column.dataset["path"]) >= 1);
  each(".frame", 6, frame => has(frame, "function", "file") && !!frame.closest(".path-column"));
  each(".frame .line", 40, line => has(line, "file", "line", "relevant") && /^(true|false)$/.test(line.dataset["relevant"]!) && Number(line.dataset["line"]) >= 1);
  // Lines that are hidden are those that neither matter nor have been unfolded.
  each(".frame .line[hidden]", 20, line => line.dataset["relevant"] === "false");
  each('.frame .line[data-relevant="true"]', 20, line => !line.hidden);
  each(".step", 20, step => Number(step.dataset["index"]) >= 1);
  for (const column of all(".path-column")) {
    const indices = all(".step", column).map(step => Number(step.dataset["index"]));
    const sorted = [...indices].sort((a, b) => a - b);
    if (new Set(indices).size !== indices.length || sorted.some((index, at) => index !== at + 1)) wrong.push(`steps ${indices}`);
    // Every line of a function is there, shown or hidden, and in order but for lines that the path comes back to.
    for (const frame of all(".frame", column)) {
      const lines = all(":scope > .body > .line", frame).map(line => Number(line.dataset["line"]));
      const last = lines.length ? Math.max(...lines) : 0, first = lines.length ? Math.min(...lines) : 1;
      if (new Set(lines).size !== last + 1 - first) wrong.push(`lines of ${frame.dataset["function"]}: ${lines}`);
    }
  }
  each(".query-chip", 1, chip => !!chip.dataset["query"]);
  each(".checklist [data-question]", 2, question => !!question.dataset["question"]);
  each(".report-text", 1, text => text.innerText.trim() !== "");
  return wrong;
});

test("the page as a file keeps the contract, folded, searched and unfolded", async () => {
  const { page, wrong } = await lab.open(lab.view([RACE], "--src", LADLE));
  assert.deepEqual(await broken(page), []);
  await page.keyboard.press("/");
  await page.keyboard.type("job");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator('.query-chip[data-query="job"]').count(), 1);
  assert.deepEqual(await broken(page), []);
  await page.locator(".fold").first().click();
  assert.ok(await page.locator('.frame .line[data-relevant="false"]:not([hidden])').count() > 0);
  assert.deepEqual(await broken(page), []);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("the page as it is served keeps the contract", async () => {
  const { page, wrong } = await lab.open(await lab.serve(RACE, "--src", LADLE, "--triage", lab.folder + "/served.triage.json"));
  assert.deepEqual(await broken(page), []);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

/** A report with one path through `main`, `times` round its loop. */
const report = (title: string, times: number) => ({
  title, rule: "r", severity: "warning", tool: { name: "t" }, location: { file: "main.c", line: 80 },
  paths: [{ kind: "flow", frames: [{ function: "main", file: "main.c" }], steps: Array.from({ length: 2 * times }, (_, at) => ({ frame: 0, location: { file: "main.c", line: 80 + (at % 2) } })) }],
});

test("a list of a thousand reports draws few of them, and every one is in reach", async () => {
  const many = { format: "parallax-report/1", reports: Array.from({ length: 1_000 }, (_, at) => report(`finding ${at + 1}`, 1)) };
  const { page, wrong } = await lab.open(`${lab.view([lab.write("many.json", many)], "--src", LADLE)}#list`);
  const rows = () => page.locator("tbody tr[data-report]").count();
  assert.equal(await page.locator(".groups .rr").count(), 1, "by the hundred they come in groups");
  await page.click('[data-group="none"]');
  assert.ok(await rows() > 0 && await rows() < 200, `${await rows()} rows drawn`);
  assert.match(await page.innerText("#list-progress"), /0 of 1000 triaged/);
  await picture(page, "list-thousand");
  const row = page.locator('tr[data-report="R-1000"]');
  assert.equal(await row.count(), 0);
  await page.evaluate(() => { const list = document.querySelector(".list-view")!; list.scrollTop = list.scrollHeight; });
  await row.waitFor();
  assert.deepEqual(await row.evaluate(element => [element.dataset["state"], element.dataset["severity"], element.querySelector("a")?.getAttribute("href")]), ["open", "2", "#R-1000"]);
  // The window shows rows from edge to edge: what is not drawn has its height.
  const bottom = await page.evaluate(() => { const list = document.querySelector(".list-view")!; return list.scrollHeight - list.scrollTop - list.clientHeight; });
  assert.ok(Math.abs(bottom) < 2, `${bottom} px left below the last row`);
  await page.fill("#filter", "finding 777");
  assert.equal(await rows(), 1);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  assert.equal(await page.innerText("#crumb"), "R-0777");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a path of a thousand steps is on the page whole, soon after its first screen", async () => {
  const { page, wrong } = await lab.open(lab.view([lab.write("loop.json", { format: "parallax-report/1", reports: [report("round and round", 500)] })], "--src", LADLE));
  // Rounds that are alike are told once; drawn all, they are all there.
  await page.locator("[data-loop]").first().click();
  await page.locator(".iters button", { hasText: /all/i }).first().click();
  await page.waitForFunction(() => document.querySelectorAll(".step").length === 1_000);
  assert.ok(await page.locator(".line[hidden]").count() > 0);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("of many paths the first three are shown, and the others when they are asked for", async () => {
  const one = report("many ways", 1);
  const { page, wrong } = await lab.open(lab.view([lab.write("ways.json", { format: "parallax-report/1", reports: [{ ...one, paths: Array.from({ length: 5 }, () => one.paths[0]) }] })], "--src", LADLE));
  assert.equal(await page.locator(".path-column:visible").count(), 3);
  assert.equal(await page.locator('.path-column[data-path="5"] .step').count(), 0, "what is not shown is not laid out");
  await page.click('[data-col="5"]');
  assert.equal(await page.locator('.path-column[data-path="5"] .step').count(), 2);
  assert.deepEqual(wrong, []);
  await page.context().close();
});
