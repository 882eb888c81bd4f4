// What a served page does beside being read: it follows its files, and opens places in an editor.

import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { column, LADLE, Lab, PARALLAX, RACE } from "./harness.ts";

const lab = new Lab();
after(() => lab.close());

test("with --watch the page follows its sources and reports, stays where it is and keeps the answers", async () => {
  const src = join(lab.folder, "ladle"), report = join(lab.folder, "race.json");
  cpSync(LADLE, src, { recursive: true });
  cpSync(RACE, report);
  const { page, wrong } = await lab.open(`${await lab.serve(report, "--src", src, "--watch")}#R-01/2/2`);
  const line = page.locator(`${column(2)} .step[data-index="2"]`);
  const before = await line.innerText(), file = await line.getAttribute("data-file"), number = Number(await line.getAttribute("data-line"));
  await page.locator(".v-row label").first().click();

  const lines = readFileSync(join(src, file!), "utf8").split("\n");
  lines[number - 1] += " /* seen again */";
  writeFileSync(join(src, file!), lines.join("\n"));
  await page.waitForFunction(() => document.body.innerText.includes("/* seen again */"));
  assert.ok((await line.innerText()).length > before.length);
  assert.match(page.url(), /#R-01~[0-9a-f]{6}\/2\/2$/, "the same step is open");
  assert.equal(await page.locator(".v-row input:checked").count(), 1, "and the verdict that was chosen");

  const made = JSON.parse(readFileSync(report, "utf8")) as { reports: { title: string }[] };
  made.reports[0]!.title = "A title made anew";
  writeFileSync(report, JSON.stringify(made));
  await page.waitForFunction(() => document.body.innerText.includes("A title made anew"));

  // A report that is half written is not shown, and the page that is there stays.
  writeFileSync(report, "{");
  await page.waitForTimeout(1_500);
  assert.match(await page.innerText("body"), /A title made anew/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a page without --watch asks for nothing", async () => {
  const { page } = await lab.open(await lab.serve(RACE, "--src", LADLE, "--triage", join(lab.folder, "quiet.triage.json")));
  let asked = 0;
  page.on("request", () => asked++);
  await page.waitForTimeout(1_300);
  assert.equal(asked, 0);
  await page.context().close();
});

test("i opens the place of the step in the editor, by its full name", async () => {
  const opened: string[] = [];
  const editor = createServer((request, answer) => { opened.push(request.url ?? ""); answer.end("opened"); });
  await new Promise<void>(done => editor.listen(0, "127.0.0.1", done));
  try {
    const src = join(lab.folder, "odd #1 folder");
    cpSync(LADLE, src, { recursive: true });
    const link = `http://127.0.0.1:${(editor.address() as AddressInfo).port}/open/{file}?line={line}`;
    const address = lab.view([RACE], "--src", src, "--editor", link);
    const { page } = await lab.open(`${address}#R-01/2/2`);
    const line = page.locator(`${column(2)} .step[data-index="2"]`);
    const want = `/open${join(src, (await line.getAttribute("data-file"))!).split("/").map(encodeURIComponent).join("/")}?line=${await line.getAttribute("data-line")}`;
    const other = page.context().waitForEvent("page");
    await page.keyboard.press("i");
    await (await other).waitForLoadState();
    assert.deepEqual(opened.filter(url => url.startsWith("/open")), [want]);
    assert.match(page.url(), /#R-01~[0-9a-f]{6}\/2\/2$/, "the page itself stays");
    await page.context().close();
    // A page that is handed on does not tell where its files lay.
    assert.ok(!readFileSync(new URL(lab.view([RACE], "--src", src)), "utf8").includes(src));
  } finally { editor.close(); }
});

test("without an editor, i says how to have one; links that run something are refused", async () => {
  const { page } = await lab.open(lab.view([RACE], "--src", LADLE));
  await page.keyboard.press("i");
  assert.match(await page.innerText("#where"), /--editor/);
  await page.context().close();
  for (const link of ["javascript:alert('{file}')", " javascript:{file}", "JavaScript:{file}", "data:text/html,{file}", "{file}", "vscode://file/"]) {
    const { status, stderr } = spawnSync(PARALLAX, ["view", RACE, "--editor", link, "-o", "x.html"], { encoding: "utf8", cwd: lab.folder });
    assert.equal(status, 2, link);
    assert.match(stderr, /--editor takes a link/);
  }
});
