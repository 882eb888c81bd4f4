// Beside the list: the rule, the path, the reports alike, the history, and edits that become a patch.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import type { Page } from "playwright-core";
import { Lab, picture } from "./harness.ts";

const lab = new Lab();
const CODE = ["void f(char *a, char *b) {", ...Array.from({ length: 14 }, (_, at) => `  strcpy(a${at}, b);`), "  r = strcpy(a, b);", "}"].join("\n") + "\n";
let address = "", source = "";

/** One result a line, all but the last with the same edit. */
const result = (line: number) => ({
  ruleId: "copy", level: "warning", message: { text: `strcpy does not know how large a${line - 2} is` },
  locations: [{ physicalLocation: { artifactLocation: { uri: "f.c" }, region: { startLine: line, startColumn: 3, endColumn: 9 } } }],
  ...(line < 16 && { fixes: [{ description: { text: "Say how large it is" }, artifactChanges: [{ artifactLocation: { uri: "f.c" }, replacements: [{ deletedRegion: { startLine: line, startColumn: 3, endColumn: 3 + `strcpy(a${line - 2}, b)`.length }, insertedContent: { text: `strlcpy(a${line - 2}, b, sizeof a${line - 2})` } }] }] }] }),
});
const log = (lines: readonly number[]) => ({ version: "2.1.0", $schema: "sarif", runs: [{ tool: { driver: { name: "probe", rules: [{ id: "copy", shortDescription: { text: "Copy without a bound" }, help: { text: "Use strlcpy." } }] } }, results: lines.map(result) }] });

before(() => {
  source = join(lab.folder, "src");
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, "f.c"), CODE);
  const all = Array.from({ length: 15 }, (_, at) => at + 2);
  address = lab.view([lab.write("now.sarif", log(all))], "--src", source, "--baseline", lab.write("then.sarif", log(all.slice(0, 10))));
});
after(() => lab.close());

async function list(): Promise<{ page: Page; wrong: string[] }> {
  const opened = await lab.open(`${address}#list`, { viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });
  await opened.page.locator('[data-group="rule"]').click();
  // The first group is open from the start; a click on it makes it current, and closes it.
  await opened.page.locator(".cl").first().click();
  await opened.page.locator(".cl").first().click();
  return opened;
}

test("a group shows a few of its reports, in colour, and says where the others are", async () => {
  const { page, wrong } = await list();
  assert.equal(await page.locator(".rep").count(), 8);
  assert.match(await page.locator(".more").innerText(), /7 more like these\s+f\.c 7/);
  assert.equal(await page.locator(".rep code b").first().innerText(), "strcpy", "what the report is about stands out");
  await page.locator(".more").click();
  assert.equal(await page.locator(".rep").count(), 15);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("the pane tells the rule, when it holds, the path, the reports alike and what happened so far", async () => {
  const { page, wrong } = await list();
  const pane = page.locator(".help-pane");
  assert.match(await pane.innerText(), /True if[\s\S]*False if/);
  assert.match(await pane.innerText(), /The same edit is proposed for 14 of 15; 1 has none\./);
  await page.keyboard.press("r");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#pane-path").getAttribute("aria-selected"), "true");
  assert.match(await pane.innerText(), /f\.c:2/);
  await page.locator("#pane-alike").click();
  assert.match(await page.locator("#pane-alike").innerText(), /Alike 15/);
  assert.equal(await page.locator(".like-row").count(), 15);
  assert.equal(await page.locator(".like-row .bdg.odd").count(), 1, "the one whose result is used");
  await page.locator(".like-row").nth(11).click();
  assert.match(await page.locator(".groups .cur").innerText(), /f\.c:13/, "a click goes there");
  await page.locator("#pane-history").click();
  assert.match(await pane.innerText(), /New: not in then\.sarif/);
  await page.locator(".groups .cur").press("F");
  await page.locator(".rep", { hasText: "f.c:13" }).click();
  await page.locator(".rep", { hasText: "f.c:13" }).press("T");
  await page.locator(".rep", { hasText: "f.c:13" }).click();
  assert.deepEqual(await page.locator(".past b").allInnerTexts(), ["True", "False", "New: not in then.sarif"], "both verdicts are there, the last one first");
  await picture(page, "pane-history");
  await page.reload();
  await page.locator('[data-group="rule"]').click();
  await page.locator("#pane-history").click();
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("edits are copied and saved as patches that apply", async () => {
  const { page, wrong } = await list();
  await page.locator(".groups .cur").press("a");
  await page.waitForFunction(() => document.getElementById("where")?.textContent?.startsWith("Copied"));
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^--- a\/f\.c\n\+\+\+ b\/f\.c\n@@ -2 \+2 @@\n-  strcpy\(a0, b\);\n\+  strlcpy\(a0, b, sizeof a0\);\n$/);
  await page.locator(".groups .cur").press("A");
  assert.match(await page.innerText("#fixes-heading"), /14 places/);
  await picture(page, "pane-fixes");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click('[data-act="save-patch"]')]);
  const patch = join(lab.folder, "saved.patch");
  writeFileSync(patch, readFileSync((await download.path())!));
  execFileSync("git", ["apply", "--unidiff-zero", patch], { cwd: source });
  assert.equal(readFileSync(join(source, "f.c"), "utf8").match(/strlcpy/g)?.length, 14);
  writeFileSync(join(source, "f.c"), CODE);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("verdicts that disagree within a group are told, and what is selected is seen in the meter", async () => {
  const { page } = await list();
  await page.locator(".groups .cur").press("F");
  assert.equal(await page.locator(".meter i.sel").count(), 1);
  await page.locator(".cl").first().press("Control+Enter");
  await page.locator(".rep", { hasText: "f.c:3" }).first().click();
  await page.locator(".rep", { hasText: "f.c:3" }).first().press("T");
  assert.match(await page.locator(".cl .done").first().innerText(), /13 false, 1 true/);
  await page.context().close();
});
