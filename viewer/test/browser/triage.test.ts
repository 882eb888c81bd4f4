// Checklists, verdicts, the list, and answers that outlive the page.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { LADLE, Lab, RACE, picture } from "./harness.ts";

const lab = new Lab();
let many = "";

/** The race, and reports about null, memory and something else, in this order. */
function reports(shift = 0): object {
  const race = JSON.parse(readFileSync(RACE, "utf8")) as { reports: object[] };
  const simple = (title: string, rule: string, severity: string, file: string, line: number) =>
    ({ title, rule, severity, tool: { name: "clang", version: "19" }, location: { file, line: line + shift }, paths: [{ frames: [{ function: "", file }], steps: [{ frame: 0, location: { file, line: line - 1 + shift } }, { frame: 0, location: { file, line: line + shift }, role: "access", failing: true }] }] });
  return { ...race, reports: [...race.reports, simple("Dereference of null pointer 'p'", "core.NullDereference", "warning", "fetch.c", 22), simple("Leak of 'f'", "unix.Malloc", "note", "state.c", 30), simple("Call order of the resolver", "core.Order", "warning", "fetch.c", 57)] };
}
before(() => { many = lab.view([lab.write("many.json", reports())], "--src", LADLE); });
after(() => lab.close());

const answer = (page: Page, question: string, value: string) => page.locator(`[data-question="${question}"] label`, { hasText: value }).click();
const enabled = (page: Page) => page.locator("[data-act=submit]").isEnabled();
const states = (page: Page) => page.locator("tbody tr[data-report]").evaluateAll(rows => rows.map(row => (row as HTMLElement).dataset["state"]));

test("a race has a tab per path and per pair of paths, and all must be answered", async () => {
  const { page, wrong } = await lab.open(many);
  assert.deepEqual(await page.locator(".checklist [role=tab]").allInnerTexts(), ["Path 1", "Path 2", "Paths 1 & 2"]);
  assert.equal(await enabled(page), false);
  assert.ok(await page.locator('[data-question="path-1.otherwise"] input').first().isDisabled(), "asked only after a yes");
  await answer(page, "path-1.loop", "No");
  await page.click("#tab-1");
  await answer(page, "path-2.loop", "Yes");
  await answer(page, "path-2.otherwise", "No");
  await page.fill("#explain-path-2", "four workers share the counter");
  await page.click("#tab-2");
  await answer(page, "paths-1-2.relation", "Child-child");
  assert.equal(await page.locator('[data-question="paths-1-2.join"]').count(), 0, "the parent-child case does not apply");
  await answer(page, "paths-1-2.exclusive", "No");
  assert.equal(await enabled(page), false, "one question and the verdict are left");
  await answer(page, "paths-1-2.child-otherwise", "No");
  assert.match(await page.innerText("#answered"), /3 of 3 answered/);
  await page.keyboard.press("Escape");
  await page.locator("body").press("T");
  await page.fill("#note", "both run at once");
  await page.press("#note", "Tab");
  await picture(page, "race-checklist");
  assert.equal(await enabled(page), true);
  await page.click("[data-act=submit]");
  assert.equal(await page.innerText("#crumb"), "R-02", "the next report opens");
  assert.equal(await page.innerText("#progress"), "1 of 4 triaged");
  await page.reload();
  await page.keyboard.press("b");
  assert.deepEqual(await states(page), ["true", "open", "open", "open"], "this browser remembers");
  assert.match(await page.innerText('tr[data-report="R-01"] .by'), /^mk, 20\d\d-/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("null, memory and other reports have questions and search terms of their own", async () => {
  const { page } = await lab.open(many);
  const seen: string[][] = [];
  for (let at = 0; at < 4; at++) {
    seen.push([(await page.locator("[data-question]").first().getAttribute("data-question")) ?? "", ...(await page.locator(".query-chip .term").allInnerTexts()).slice(0, 2)]);
    await page.keyboard.press("]");
  }
  assert.deepEqual(seen, [["path-1.loop", "pthread_create", "pthread_join"], ["path-1.source", "NULL", "malloc"], ["path-1.object", "malloc", "calloc"], ["report.start"]]);
  await page.context().close();
});

test("a report without findings says so, and not that filters hide them", async () => {
  const { page } = await lab.open(lab.view([lab.write("none.json", { ...reports(), reports: [] })], "--src", LADLE));
  assert.equal(await page.innerText(".none"), "The analysers found nothing.");
  await page.context().close();
});

test("the list filters, sorts and shows progress; the keyboard is enough", async () => {
  const { page, wrong } = await lab.open(`${many}#list`);
  const ids = () => page.locator("tbody tr[data-report]").evaluateAll(rows => rows.map(row => (row as HTMLElement).dataset["report"]!.slice(-1)).join(""));
  assert.equal(await ids(), "1234");
  await picture(page, "list");
  await page.click('[data-severity="2"]');
  assert.equal(await ids(), "24");
  await page.click('[data-severity="0"]');
  await page.click('[data-sort="severity"]');
  assert.equal(await ids(), "3241");
  await page.click('[data-sort="severity"]');
  assert.equal(await ids(), "1243");
  assert.equal(await page.locator('th[aria-sort="descending"]').innerText(), "Severity");
  await page.keyboard.press("/");
  await page.keyboard.type("null");
  assert.equal(await ids(), "2");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  assert.equal(await page.innerText("#crumb"), "R-02");
  await answer(page, "path-1.source", "No");
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await page.fill("#filter", "");
  await page.click('[data-state="started"]');
  assert.equal(await ids(), "2");
  await page.fill("#filter", "nothing like this");
  assert.match(await page.innerText(".none"), /No report matches/);
  await page.click(".none .link");
  assert.equal((await ids()).length, 4);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("answers are saved as a triage file and found again when the reports are made anew", async () => {
  const { page } = await lab.open(many);
  await page.keyboard.press("]");
  await answer(page, "path-1.source", "No");
  await page.locator("body").press("F");
  await page.fill("#author", "ada");
  await page.press("#author", "Tab");
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("b");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("[data-act=download]")]);
  const triage = join(lab.folder, "saved.triage.json");
  writeFileSync(triage, readFileSync((await download.path())!));
  const records = Object.values((JSON.parse(readFileSync(triage, "utf8")) as { records: Record<string, { answers?: { field: string; value: string; author: string }[] }> }).records);
  const verdicts = records.flatMap(record => record.answers ?? []).filter(answer => answer.field === "verdict");
  assert.deepEqual(verdicts.map(answer => [answer.value, answer.author]), [["false", "ada"]]);
  await page.context().close();
  // The code has moved by a line, the tool has run again.
  const sarif = join(lab.folder, "judged.sarif"), moved = join(lab.folder, "moved");
  mkdirSync(moved);
  for (const name of readdirSync(LADLE).filter(name => /\.[ch]$/.test(name))) writeFileSync(join(moved, name), `/* a line */\n${readFileSync(join(LADLE, name), "utf8")}`);
  const anew = lab.view([lab.write("anew.json", reports(1))], "--src", moved, "--triage", triage, "--suppressions", sarif);
  const { page: again } = await lab.open(`${anew}#list`);
  assert.deepEqual(await states(again), ["open", "false", "open", "open"]);
  await again.context().close();
  const run = (JSON.parse(readFileSync(sarif, "utf8")) as { runs: { results: { suppressions?: { status?: string; justification?: string }[] }[] }[] }).runs;
  const suppressed = run.flatMap(one => one.results).filter(result => result.suppressions?.length);
  assert.equal(suppressed.length, 1);
  assert.match(suppressed[0]!.suppressions![0]!.justification ?? "", /ada/);
  // And a page made from that SARIF knows without any triage file.
  const { page: third } = await lab.open(`${lab.view([sarif], "--src", LADLE)}#list`);
  assert.equal((await states(third)).filter(state => state === "false").length, 1);
  // Loading the file by hand does the same.
  await third.setInputFiles("input[type=file]", triage);
  await third.waitForFunction(() => document.getElementById("where")?.textContent?.startsWith("Answers loaded"));
  await third.setInputFiles("input[type=file]", sarif);
  await third.waitForFunction(() => document.getElementById("where")?.textContent === "This is not a triage file.");
  await third.context().close();
});

test("with --serve every answer is saved to the file at once, and only for this page", async () => {
  const source = lab.write("served.json", reports()), triage = join(lab.folder, "served.triage.json");
  const url = await lab.serve(source, "--src", LADLE);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{48}$/);
  const { page, wrong } = await lab.open(url);
  await answer(page, "path-1.loop", "No");
  await page.waitForFunction(() => !document.querySelector("#why")?.textContent?.startsWith("3"));
  await page.waitForFunction(() => document.getElementById("unsaved")?.hidden);
  assert.match(readFileSync(triage, "utf8"), /"field": "answer:path-1\.loop",\s+"value": "no"/);
  assert.deepEqual(wrong, []);
  await page.reload();
  assert.ok(await page.locator('[data-question="path-1.loop"] input[value=no]').isChecked(), "the server remembers");
  const { origin } = new URL(url);
  const status = async (path: string, init: RequestInit = {}) => (await fetch(origin + path, init)).status;
  assert.equal(await status("/"), 403);
  assert.equal(await status("/triage", { method: "POST", body: "{}" }), 403);
  assert.equal(await status("/..%2f..%2fetc/passwd"), 404);
  lab.stopServers();
  await answer(page, "path-1.loop", "Yes");
  await page.waitForFunction(() => document.getElementById("where")?.textContent === "Not saved: the server does not answer. An answer is kept in this browser.");
  assert.equal(await page.innerText("#unsaved"), "1 not saved yet");
  await page.context().close();
});

test("a team's own checklist is asked for its reports", async () => {
  lab.write("lists/zero.json", { format: "parallax-checklist/1", name: "zero", title: "Zero", matches: { words: ["resolver"] }, presets: ["/[/%]/"], verdicts: { true: "Real" }, tabs: [{ for: "report", title: "Divisor", questions: [{ id: "zero", text: "Can `nthreads` be zero?" }] }] });
  const address = lab.view([lab.write("own.json", reports())], "--src", LADLE, "--checklists", join(lab.folder, "lists"));
  const { page } = await lab.open(`${address}#R-04`);
  assert.equal(await page.locator('[data-question="report.zero"] p code').innerText(), "nthreads");
  assert.match(await page.locator(".v-row").innerText(), /Real/);
  await page.context().close();
});
