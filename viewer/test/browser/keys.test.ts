// The keys of the help, in every view: each does what its row says, and where it has nothing to do it says so. The table here
// must have exactly the keys of the help and of the documents.
//
// Not tried: keyboards that have no `[`, and browsers that keep a key for themselves.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { KEYS } from "../../src/views/help.ts";
import { LADLE, Lab, PARALLAX, RACE, ROOT, column } from "./harness.ts";

const lab = new Lab();
let race = "", many = "", bare = "", loops = "", timeline = "", flatFixes = "";
after(() => lab.close());

before(() => {
  race = lab.view([RACE, RACE], "--src", LADLE);
  const lint = (number: number) => ({
    title: `Result of 'f${number}' is not used`, rule: number % 3 ? "unused" : "unchecked", severity: "warning", tool: { name: "probe" }, location: { file: "fetch.c", line: 10 + number },
    fixes: [{ description: "use it", changes: [{ file: "fetch.c", first: 10 + number, last: 10 + number, new: ["x;"] }] }],
  });
  const reports = (count: number) => lab.write(`${count}.json`, { format: "parallax-report/1", reports: Array.from({ length: count }, (_, number) => lint(number)) });
  many = lab.view([reports(60)], "--src", LADLE);
  flatFixes = lab.view([reports(12)], "--src", LADLE);
  bare = lab.view([lab.write("bare.json", { format: "parallax-report/1", reports: [{ title: "one", rule: "r", severity: "warning", tool: { name: "t" }, paths: [{ frames: [{ function: "", file: "gone.c" }], steps: [{ frame: 0, location: { file: "gone.c", line: 3 } }] }] }] })]);
  const round = (at: number) => [80, 81].map(line => ({ frame: 0, location: { file: "main.c", line }, values: [{ name: "i", value: String(at) }] }));
  loops = lab.view([lab.write("loops.json", { format: "parallax-report/1", reports: [0, 1].map(odd => ({ title: `round ${odd}`, rule: "r", severity: "warning", tool: { name: "t" }, rule_help: "x", location: { file: "main.c", line: 80 },
    paths: [{ frames: [{ function: "main", file: "main.c" }], steps: [...Array.from({ length: 5 }, (_, at) => round(at)).flat(), { frame: 0, location: { file: "main.c", line: 90 + odd }, role: "access", failing: true }] }] })) })], "--src", LADLE);
});

type State = { readonly url: string; readonly status: string; readonly body: string; readonly focus: string; readonly scroll: number };
const state = (page: Page): Promise<State> => page.evaluate(() => ({
  url: location.hash, status: document.getElementById("where")?.textContent ?? document.querySelector(".status [role=status]")?.textContent ?? "",
  body: document.body.outerHTML + [...document.querySelectorAll<HTMLInputElement>("input:checked")].map(one => one.id).join(" "), focus: document.activeElement?.id || document.activeElement?.outerHTML.slice(0, 120) || "", scroll: [...document.querySelectorAll(".scroller")].reduce((sum, one) => sum + one.scrollTop, 0),
}));
const said = (page: Page) => page.innerText("#where");
const current = (page: Page) => page.locator(".line.current").evaluateAll(all => all.map(one => `${(one.closest(".path-column") as HTMLElement).dataset["path"]}.${(one as HTMLElement).dataset["index"]}`).join(" "));
const judged = (page: Page, id: string) => page.locator(`[data-report="${id}"]`).getAttribute("data-state");
const press = async (page: Page, ...keys: string[]) => { for (const key of keys) await page.keyboard.press(key); };

/** What a key does: the keys that lead there, the key, and what is so then. */
interface Row { readonly keys: string; readonly first?: readonly string[]; readonly on?: () => string; readonly holds: (page: Page, before: State) => Promise<unknown> }

/** Of each section of the help its keys, in the order of the help. */
const TABLE: Readonly<Record<string, { readonly page: () => string; readonly rows: readonly Row[] }>> = {
  "Follow the path": { page: () => `${race}#R-01`, rows: [
    { keys: "j", holds: async page => await current(page) === "1.2" },
    { keys: "k", first: ["j", "j"], holds: async page => await current(page) === "1.2" },
    { keys: "h", first: ["l"], holds: async page => (await current(page)).startsWith("1.") },
    { keys: "l", holds: async page => (await current(page)).startsWith("2.") },
    { keys: "g", first: ["j", "j"], holds: async page => await current(page) === "1.1" },
    { keys: "a", holds: async page => await page.locator(".line.current.access").count() === 1 },
    { keys: "H", first: ["l"], holds: async page => await page.locator(".path-column").first().getAttribute("data-path") === "2" },
    { keys: "L", holds: async page => await page.locator(".path-column").first().getAttribute("data-path") === "2" },
    { keys: "v", holds: async page => await page.locator("dialog[open] .pick-row").count() > 0 },
    { keys: "w", on: () => `${loops}#R-01/1/10`, first: [], holds: async page => /^1\.[89]$/.test(await current(page)) || /does not say|No value/.test(await said(page)) },
    { keys: "y", holds: async page => /#R-01~[0-9a-f]{6}\/1\/1/.test(await said(page)) },
  ] },
  "See more code": { page: () => `${race}#R-01`, rows: [
    { keys: "e", holds: async page => await page.locator(`${column(1)} .frame[data-function="main"] > .body > .line:not([hidden])`).count() === 39 },
    { keys: "E", holds: async page => /^111 lines/.test(await page.innerText(`${column(1)} .count`)) },
    { keys: "o", on: () => `${loops}#R-01`, holds: async page => await page.locator(".iters").count() === 1 },
    { keys: "C", holds: async (page, before) => (await state(page)).status !== before.status },
    { keys: "V", holds: async (page, before) => (await state(page)).status !== before.status },
    { keys: "d", first: ["j", "j", "j"], holds: async page => await page.locator(".definition").count() === 1 },
    { keys: "i", holds: async page => /--editor/.test(await said(page)) },
    { keys: "/", holds: async page => await page.evaluate(() => document.activeElement?.id) === "term" },
    { keys: "n", holds: async page => /1 of \d+ match/.test(await said(page)) },
    { keys: "N", holds: async page => /(\d+) of \1 match/.test(await said(page)) },
    { keys: "Escape", first: ["j", "j", "j", "d"], holds: async page => await page.locator(".definition").count() === 0 },
  ] },
  "Triage": { page: () => `${race}#R-01`, rows: [
    { keys: "c", first: ["p"], holds: async page => await page.evaluate(() => document.activeElement?.id) === "tab-0" && await page.locator("#tab-0").isVisible() },
    { keys: "T", holds: page => page.locator("input[name=verdict][value=true]").isChecked() },
    { keys: "F", holds: page => page.locator("input[name=verdict][value=false]").isChecked() },
    { keys: "U", holds: page => page.locator("input[name=verdict][value=unsure]").isChecked() },
    { keys: "Control+Enter", on: () => `${flatFixes}#R-01`, first: ["T"], holds: async page => await page.innerText("#crumb") === "R-02" },
    { keys: "[", first: ["]"], holds: async page => await page.innerText("#crumb") === "R-01" },
    { keys: "]", holds: async page => await page.innerText("#crumb") === "R-02" },
    { keys: "b", holds: async page => await page.getAttribute("body", "data-view") === "list" },
    { keys: "p", holds: async page => !(await page.locator(".side").isVisible()) },
    { keys: "r", holds: async page => /nothing about this rule/.test(await said(page)) || await page.locator(".rule-details[open]").count() === 1 },
    { keys: "=", holds: async page => /No report of before/.test(await said(page)) },
  ] },
  "Many reports": { page: () => `${many}#list`, rows: [
    { keys: "J", holds: async page => await page.locator(".groups .cur").getAttribute("data-at") !== "2" },
    { keys: "K", first: ["J"], holds: async page => Number(await page.locator(".groups .cur").getAttribute("data-at")) <= 2 },
    { keys: "ArrowLeft", first: ["Home"], holds: async page => await page.locator(".groups .cur").getAttribute("aria-expanded") === "false" },
    { keys: "ArrowRight", first: ["Home", "ArrowLeft"], holds: async page => await page.locator(".groups .cur").getAttribute("aria-expanded") === "true" },
    { keys: "x", first: ["j"], holds: async page => /^[1-9]\d* of/.test(await page.innerText("#bulk-count")) },
    { keys: "X", holds: async page => Number(/^\d+/.exec(await page.innerText("#bulk-count"))?.[0]) > 1 },
    { keys: "T", first: ["X"], holds: async page => await page.locator(".bulk .vb.on", { hasText: "True" }).count() === 1 },
    { keys: "F", first: ["X"], holds: async page => await page.locator(".bulk .vb.on", { hasText: "False" }).count() === 1 },
    { keys: "U", first: ["X"], holds: async page => await page.locator(".bulk .vb.on", { hasText: "Unsure" }).count() === 1 },
    { keys: "Control+Enter", first: ["X", "F"], holds: async page => !/^0 of/.test(await page.innerText("#list-progress")) },
    { keys: "z", first: ["X", "F", "Control+Enter"], holds: async page => /^0 of/.test(await page.innerText("#list-progress")) },
    { keys: "a", holds: async page => /Copied|does not let|another|No fix|elsewhere/.test(await said(page)) },
    { keys: "A", holds: async page => await page.locator("#fixes[open]").count() === 1 || /No fix/.test(await said(page)) },
  ] },
  "Two paths": { page: () => `${race}#R-01/1:R-01/2`, rows: [
    { keys: "n", holds: async (page, before) => (await state(page)).url !== before.url || (await state(page)).status !== before.status || /difference/i.test(await said(page)) },
    { keys: "N", holds: async (page, before) => (await state(page)).body !== before.body },
    { keys: "D", first: ["n", "n"], holds: async page => /first divergence|do not part/.test(await said(page)) },
    { keys: "s", holds: async (page, before) => /#R-01~[0-9a-f]+\/2.*:R-01~[0-9a-f]+\/1/.test((await state(page)).url) && (await state(page)).url !== before.url },
    { keys: "Escape", holds: async page => await page.getAttribute("body", "data-view") === "report" },
  ] },
};
const named = (key: string): string => ({ "←": "ArrowLeft", "→": "ArrowRight", Esc: "Escape" })[key] ?? key;

test("the table has the keys of the help, and the document names no others", () => {
  for (const [title, rows] of KEYS) {
    const listed = rows.flatMap(([keys]) => (keys === "Ctrl Enter" ? ["Control+Enter"] : keys.split(" ").map(named)));
    assert.deepEqual(TABLE[title]?.rows.map(row => row.keys), listed, title);
  }
  assert.deepEqual(Object.keys(TABLE), KEYS.map(([title]) => title));
  const text = readFileSync(join(ROOT, "docs/viewer.md"), "utf8"), [, section = ""] = /## Keys\n([^]*?)\n## /.exec(text) ?? [];
  const documented = [...section.matchAll(/`([^`]+)`/g)].map(([, key = ""]) => key), known = new Set([...KEYS.flatMap(([, rows]) => rows.flatMap(([keys]) => (keys === "Ctrl Enter" ? [keys] : keys.split(" ")))), "?"]);
  assert.deepEqual(documented.filter(key => !known.has(key)), []);
  assert.ok(documented.length > 30);
});

for (const [title, { page: address, rows }] of Object.entries(TABLE)) {
  test(`${title}: every key does what it says`, async () => {
    const { page, wrong } = await lab.open("about:blank");
    await page.addInitScript(() => { try { localStorage.clear(); } catch { /* This page keeps nothing. */ } });
    for (const { keys, first = [], on = address, holds } of rows) {
      await page.goto("about:blank");
      await page.goto(on());
      await press(page, ...first);
      const before = await state(page);
      await press(page, keys);
      // Copying answers later.
      for (let tries = 0; tries < 40 && !await holds(page, before); tries++) await page.waitForTimeout(50);
      assert.ok(await holds(page, before), `${keys} after ${first.join(" ") || "nothing"}: ${await said(page)} ${(await state(page)).url}`);
    }
    assert.deepEqual(wrong.filter(words => !/clipboard/i.test(words)), []);
    await page.context().close();
  });
}

test("the flat and the grouped list share their keys", async () => {
  for (const id of ["flat", "grouped"] as const) {
    const { page } = await lab.open(`${flatFixes}#list`);
    if (id === "grouped") await page.click('[data-group="rule"]');
    else assert.equal(await page.locator(".groups").count(), 0);
    const rows = async () => /^(\d+) of/.exec(await page.innerText("#bulk-count"))?.[1];
    await press(page, "Home", "j", "j", "x");
    assert.ok(Number(await rows()) >= 1, id);
    await press(page, "Escape", "X");
    assert.ok(Number(await rows()) > 1, `${id}: all alike`);
    const chosen = Number(await rows());
    await press(page, "U");
    await page.fill("#bulk-reason", "why not");
    await press(page, "Control+Enter");
    assert.match(await page.innerText("#list-progress"), new RegExp(`^${chosen} of 12 triaged`), id);
    await page.keyboard.press("Escape");
    await page.locator("body").press("z");
    assert.match(await page.innerText("#list-progress"), /^0 of 12 triaged/, id);
    await press(page, "End");
    const end = await said(page);
    await press(page, "Home", "End");
    assert.equal(await said(page), end, id);
    await press(page, "Home", "J", "K", "r");
    assert.equal(await page.locator("#pane-rule[aria-selected=true]").count(), 1, id);
    await press(page, "a");
    assert.match(await said(page), /Copied|does not let|No fix/, id);
    await page.context().close();
  }
});

test("no key of the help does nothing, wherever it is pressed", async () => {
  const all = [...new Set(Object.values(TABLE).flatMap(({ rows }) => rows.map(row => row.keys)))];
  for (const address of [`${bare}#R-01`, `${bare}#list`, `${many}#list`, `${race}#R-01/1:R-01/2`]) {
    const { page, wrong } = await lab.open(address);
    for (const key of all) {
      // Back to where it began, with nothing open and nothing said.
      await page.evaluate(address => {
        for (const dialog of document.querySelectorAll("dialog[open]")) (dialog as HTMLDialogElement).close();
        (document.activeElement as HTMLElement | null)?.blur();
        if (location.hash !== address) location.hash = address;
      }, address.slice(address.indexOf("#")));
      await page.evaluate(() => { document.getElementById("where")!.textContent = ""; });
      const before = await state(page);
      await press(page, key);
      const moved = async () => { const now = await state(page); return now.url !== before.url || now.status !== "" || now.body.length !== before.body.length || now.focus !== before.focus || now.body !== before.body; };
      for (let tries = 0; tries < 40 && !await moved(); tries++) await page.waitForTimeout(50);
      assert.ok(await moved(), `${key} on ${address}: nothing happens, and nothing is said`);
    }
    assert.deepEqual(wrong.filter(words => !/clipboard/i.test(words)), []);
    await page.context().close();
  }
});

test("a verdict that holds is not taken back without a word", async () => {
  const { page } = await lab.open(`${flatFixes}#list`);
  await press(page, "Home", "T");
  assert.equal(await judged(page, "R-01"), "true");
  await page.evaluate(() => { location.hash = "#R-01"; });
  await page.locator("#crumb", { hasText: "R-01" }).waitFor();
  await page.locator("body").press("T");
  assert.match(await said(page), /judged true already/);
  await page.locator("body").press("F");
  assert.match(await said(page), /No longer judged true/);
  await page.context().close();
});

test("z takes back what was given, and not what was said since", async () => {
  const { page } = await lab.open(`${flatFixes}#list`);
  await press(page, "Home", "T");
  await page.evaluate(() => { location.hash = "#R-01"; });
  await page.locator("#crumb", { hasText: "R-01" }).waitFor();
  await page.fill("#note", "seen later");
  await page.keyboard.press("Escape");
  await page.locator("body").press("b");
  await page.locator("tbody tr").first().waitFor();
  await page.locator("body").press("z");
  assert.equal(await judged(page, "R-01"), "started");
  await page.evaluate(() => { location.hash = "#R-01"; });
  await page.locator("#crumb", { hasText: "R-01" }).waitFor();
  assert.equal(await page.inputValue("#note"), "seen later");
  await page.context().close();
});

test("of a timeline every key does what it says, and says where there is nothing to do", async () => {
  const source = join(ROOT, "corpus/demo/stock.c"), program = join(lab.folder, "stock");
  assert.equal(spawnSync("gcc", ["-g", "-O0", "-w", "-o", program, source]).status, 0);
  spawnSync(PARALLAX, ["record", "-o", "stock.rec", "--", program], { cwd: lab.folder, input: "aAaBdBsA" });
  const script = lab.write("stock.py", 'adds = the_execution.breakpoints("add")\nfirst = the_execution.breakpoints("main")\nfavourite = the_execution.watchpoints("favourite", rw=READ | WRITE)\ncalls = the_execution.all_calls()\n');
  const out = join(lab.folder, "stock.html");
  const ran = spawnSync(PARALLAX, ["timeline", "stock.rec", "--script", script, "-o", out], { cwd: lab.folder, encoding: "utf8", env: { ...process.env, PARALLAX_PYTHON: process.env["PARALLAX_PYTHON"] ?? "python3" } });
  assert.equal(ran.status, 0, ran.stderr);
  timeline = `file://${out}`;
  const { page, wrong } = await lab.open(timeline, { viewport: { width: 1440, height: 900 } });
  await page.keyboard.press("?");
  const keys = (await page.locator("dialog.keys kbd").allInnerTexts()).map(key => key.trim());
  await page.keyboard.press("Escape");
  const text = readFileSync(join(ROOT, "docs/timeline.md"), "utf8"), [, sentence = ""] = /Keys: ([^]*?)\. The address/.exec(text) ?? [];
  const documented = [...sentence.matchAll(/`([^`]+)`/g)].flatMap(([, key = ""]) => key.split(" "));
  assert.deepEqual([...new Set(documented)].sort(), [...new Set([...keys, "?"])].sort(), "the help has the keys of the document");
  const moment = async () => Number(/Moment ([\d\u2009]+)/.exec(await page.innerText(".status [role=status]"))?.[1]?.replace(/\D/g, ""));
  const size = async () => Number((await page.innerText(".zl")).replace(/\D/g, ""));
  const settle = () => page.waitForTimeout(80);
  for (const key of documented) {
    await page.goto("about:blank");
    await page.goto(timeline);
    // From the middle of the run there is something on both sides.
    await press(page, "k", "k");
    if (key === "F" || key === "f") await press(page, "h");
    await settle();
    const before = { ...await state(page), at: await moment(), size: await size() };
    await press(page, named(key));
    await settle();
    const after = await state(page);
    assert.ok(after.status !== before.status || after.body !== before.body || after.url !== before.url, `${key} does nothing`);
    if (key === "+") assert.ok(await size() < before.size);
    if (key === "m") assert.equal(await page.locator(".hair.mk").count(), 1);
    if (key === "j" && /^Moment/.test(after.status)) assert.ok(await moment() > before.at);
    if (key === "k" && /^Moment/.test(after.status)) assert.ok(await moment() < before.at);
    for (let again = 0; again < 3; again++) await press(page, named(key));
    await settle();
    assert.notEqual((await state(page)).status, "", key);
  }
  assert.deepEqual(wrong.filter(words => !/clipboard/i.test(words)), []);
  await page.context().close();
});
