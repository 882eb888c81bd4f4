// What a screen reader is given: names, roles and states from the browser's own accessibility tree, as the keys lead through a
// report and a list. The transcript stands beside this file, to be read; BLESS=1 writes it.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { LADLE, Lab, RACE, ROOT } from "./harness.ts";

const lab = new Lab();
after(() => lab.close());
const FILE = join(ROOT, "viewer/test/browser/spoken.txt");

interface Node { readonly role?: { value: string }; readonly name?: { value: string }; readonly properties?: { name: string; value: { value: unknown } }[] }

/** What is said of the element that has the focus. */
async function focused(page: Page, session: CDPSession): Promise<string> {
  const { result } = await session.send("Runtime.evaluate", { expression: "document.activeElement" });
  const { nodes } = await session.send("Accessibility.getPartialAXTree", { objectId: result.objectId!, fetchRelatives: false }) as unknown as { nodes: Node[] };
  const [node] = nodes;
  const states = (node?.properties ?? []).filter(({ name }) => ["level", "expanded", "selected", "checked", "disabled"].includes(name)).map(({ name, value }) => `${name} ${String(value.value)}`);
  void page;
  return [`${node?.role?.value ?? "nothing"}: ${node?.name?.value ?? ""}`, ...states].join(", ");
}

async function transcript(): Promise<{ text: string; steps: string[]; list: string[] }> {
  const { page } = await lab.open(`${lab.view([RACE], "--src", LADLE)}#R-01`);
  const session = await page.context().newCDPSession(page);
  const steps: string[] = [];
  for (const path of [1, 2]) {
    await page.keyboard.press(path === 1 ? "g" : "l");
    await page.keyboard.press("g");
    for (let last = ""; ;) {
      const now = await focused(page, session);
      if (now === last) break;
      steps.push(now);
      last = now;
      await page.keyboard.press("j");
    }
  }
  await page.keyboard.press("c");
  const checklist: string[] = [await focused(page, session)];
  for (let tab = 0; tab < 9; tab++) { await page.keyboard.press("Tab"); checklist.push(await focused(page, session)); }
  await page.context().close();

  const lint = (number: number) => ({ title: `Result of 'f${number}' is not used`, rule: number % 3 ? "unused" : "unchecked", severity: "warning", tool: { name: "probe" }, location: { file: "fetch.c", line: 20 + number % 9 } });
  const { page: other } = await lab.open(`${lab.view([lab.write("many.json", { format: "parallax-report/1", reports: Array.from({ length: 42 }, (_, number) => lint(number)) })], "--src", LADLE)}#list`);
  const second = await other.context().newCDPSession(other);
  const list: string[] = [];
  for (const key of ["Home", "ArrowDown", "ArrowDown", "Space", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowRight", "End"]) {
    await other.keyboard.press(key);
    list.push(`${key}: ${await focused(other, second)}`);
  }
  await other.context().close();
  const text = ["A report, step by step (j), then its checklist (c, Tab):", "", ...steps, "", ...checklist, "", "The list, by its keys:", "", ...list, ""].join("\n");
  return { text, steps, list };
}

test("a step is spoken whole, and the list is a tree", async () => {
  const { text, steps, list } = await transcript();
  if (process.env["BLESS"]) writeFileSync(FILE, text);
  // Place, code, outcome, values and the tool's words.
  assert.ok(steps.length > 20);
  for (const step of steps) assert.match(step, /^group: Step \d+, \w[^,]*, \S+ line \d+: \S/);
  const data = JSON.parse(readFileSync(RACE, "utf8")) as { reports: { paths: { steps: { message?: string; taken?: boolean; values?: { name: string; value: string }[] }[] }[] }[] };
  const all = data.reports[0]!.paths.flatMap(path => path.steps), whole = steps.join("\n");
  for (const { message, taken } of all) {
    if (message) assert.ok(whole.includes(message), message);
    if (taken !== undefined) assert.match(whole, taken ? /taken/ : /not taken/);
  }
  const [family, group, member] = list;
  assert.match(family!, /^Home: treeitem: .*level 1.*expanded true/);
  assert.match(group!, /^ArrowDown: treeitem: .*level 2/);
  assert.match(member!, /^ArrowDown: treeitem: .*level 3/);
  assert.match(list[3]!, /selected true/);
  assert.equal(text, readFileSync(FILE, "utf8"));
});
