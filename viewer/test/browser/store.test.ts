// Answers and what may happen to them: several tabs, several servers on one file, a file that is edited beside them, servers
// that are killed and come back. A schedule is random, and a model knows what was given and what was confirmed: all of that
// is in the file at the end, and what nobody has knowingly replaced stands.
//
// What the schedules do not have: a browser that is killed while it writes its own store, two machines with clocks that
// differ, a disk that is full.

import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import test, { after } from "node:test";
import type { Page } from "playwright-core";
import { LADLE, Lab } from "./harness.ts";

const lab = new Lab();
after(() => lab.close());

interface Kept { readonly records: Record<string, { report: string; answers?: { id: string; field: string; value: string; author: string; replaces?: Record<string, number> }[] }> }
const kept = (file: string): Kept => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as Kept : { records: {} });
const answersIn = (file: string) => Object.values(kept(file).records).flatMap(record => (record.answers ?? []).map(answer => ({ report: record.report, ...answer })));

/** Some findings on lines of the ladle. */
function reports(): object {
  const at = (title: string, file: string, line: number) => ({ title, rule: "core.NullDereference", severity: "warning", tool: { name: "clang" }, location: { file, line }, paths: [{ frames: [{ function: "", file }], steps: [{ frame: 0, location: { file, line }, role: "access", failing: true }] }] });
  return { format: "parallax-report/1", reports: [at("null 1", "fetch.c", 22), at("null 2", "state.c", 30), at("null 3", "fetch.c", 57)] };
}

const note = (page: Page, text: string) => page.fill("#note", text);
const saved = (page: Page) => page.waitForFunction(() => document.getElementById("unsaved")?.hidden);
const state = (page: Page, id: string) => page.locator(`[data-report="${id}"]`).getAttribute("data-state");

test("answers of two tabs of a page that stands alone come together, and other projects do not see them", async () => {
  const report = lab.write("alone/src/r.json", reports());
  cpSync(LADLE, join(lab.folder, "alone/src/ladle"), { recursive: true });
  cpSync(LADLE, join(lab.folder, "other/src/ladle"), { recursive: true });
  const address = lab.view([report], "--src", join(lab.folder, "alone/src")), other = lab.view([report], "--src", join(lab.folder, "other/src"));
  const { page: one, wrong } = await lab.open(`${address}#R-01`);
  const two = await one.context().newPage();
  await two.goto(`${address}#R-02`);
  await one.locator("body").press("F");
  await two.locator("body").press("T");
  await note(one, "of one");
  await note(two, "of two");
  // Each sees at once what the other says.
  await two.keyboard.press("Escape");
  await two.goto(`${address}#R-01`);
  await two.waitForFunction(() => (document.getElementById("note") as HTMLInputElement).value === "of one");
  for (const page of [one, two]) {
    await page.reload();
    const counts = await page.evaluate(() => Object.keys(localStorage).filter(name => name.startsWith("parallax-answers:")).length);
    assert.equal(counts, 4);
  }
  const third = await one.context().newPage();
  await third.goto(`${other}#R-01`);
  assert.equal(await third.inputValue("#note"), "");
  assert.equal(await third.locator(".v-row input:checked").count(), 0, "the other src has no verdict");
  assert.deepEqual(wrong, []);
  await one.context().close();
});

test("of two verdicts that did not know of each other both are kept and shown, until one is chosen", async () => {
  const report = lab.write("both/r.json", reports()), file = join(lab.folder, "both/r.triage.json");
  const address = await lab.serve(report, "--src", LADLE), second = await lab.serve(report, "--src", LADLE);
  const [{ page: ada }, { page: bob }] = [await lab.open(`${address}#R-01`), await lab.open(`${second}#R-01`)];
  const judge = async (page: Page, name: string, key: string) => {
    await page.fill("#author", name);
    await page.keyboard.press("Escape");
    for (const question of await page.locator(".checklist [data-question]").all()) if (await question.locator("input:enabled").count()) await question.locator("label", { hasText: "No" }).click();
    await page.locator("body").press(key);
    await page.keyboard.press("Control+Enter");
    await saved(page);
  };
  await judge(ada, "ada", "T");
  await judge(bob, "bob", "F");
  const verdicts = answersIn(file).filter(answer => answer.field === "verdict").map(answer => `${answer.author} ${answer.value}`).sort();
  assert.deepEqual(verdicts, ["ada true", "bob false"]);
  await ada.goto(`${address}#list`);
  await ada.reload();
  assert.equal(await state(ada, "R-01"), "started", "judged differently is not judged");
  await ada.goto(`${address}#R-01`);
  const conflict = ada.locator(".asked.conflict", { hasText: "verdict" });
  assert.match(await conflict.innerText(), /true.*ada[^]*false.*bob/i);
  await conflict.getByRole("button", { name: "Keep: false" }).click();
  await saved(ada);
  await ada.goto(`${address}#list`);
  await ada.reload();
  assert.equal(await state(ada, "R-01"), "false");
  lab.stopServers();
  for (const page of [ada, bob]) await page.context().close();
});

test("what is given while the server is away is sent when it is there again, and a text that is typed outlives a reload", async () => {
  const report = lab.write("away/r.json", reports()), file = join(lab.folder, "away/r.triage.json");
  const address = await lab.serve(report, "--src", LADLE);
  const { page } = await lab.open(`${address}#R-02`);
  await page.locator("#note").pressSequentially("half a sen");
  await page.reload();
  assert.equal(await page.inputValue("#note"), "half a sen");
  await saved(page);
  lab.stopServers();
  await note(page, "a sentence");
  await page.waitForFunction(() => /does not answer/.test(document.getElementById("where")?.textContent ?? ""));
  assert.match(await page.innerText("#unsaved"), /1 not saved yet/);
  // The server that comes back has the same address and another token: the page says so and keeps what it has.
  const again = await lab.serve(report, "--src", LADLE);
  assert.equal(new URL(again).port, new URL(address).port);
  await page.waitForFunction(() => /started anew/.test(document.getElementById("where")?.textContent ?? ""));
  await page.goto(again);
  await saved(page);
  const notes = answersIn(file), replaced = new Set(notes.flatMap(answer => Object.keys(answer.replaces ?? {})));
  assert.deepEqual(notes.filter(answer => !replaced.has(answer.id)).map(answer => [answer.report, answer.field, answer.value]), [["R-02", "note", "a sentence"]]);
  lab.stopServers();
  await page.context().close();
});

test("a note that is too long is not taken, and a broken record costs only itself", async () => {
  const report = lab.write("long/r.json", reports()), file = join(lab.folder, "long/r.triage.json");
  const address = await lab.serve(report, "--src", LADLE);
  const { page } = await lab.open(`${address}#R-01`);
  await note(page, "ü".repeat(70_000));
  await note(page, "short");
  await saved(page);
  assert.ok((await page.getAttribute("#note", "maxlength")) !== null);
  const triage = kept(file), key = Object.keys(triage.records).find(one => triage.records[one]!.report === "R-01")!;
  lab.stopServers();
  const broken = { ...triage, records: { ...triage.records, [key]: { ...triage.records[key], answers: [{ id: "x", field: "note", value: "x".repeat(70_000) }] } } };
  writeFileSync(file, JSON.stringify(broken));
  const { page: next } = await lab.open(`${await lab.serve(report, "--src", LADLE)}#list`);
  assert.match(await next.innerText(".page-note"), /R-01 null 1.* cannot be read.*the note is too large/);
  await next.goto(`${next.url().split("#")[0]}#R-02`);
  await note(next, "still saved");
  await saved(next);
  assert.ok(answersIn(file).some(answer => answer.value === "still saved"));
  assert.match(readFileSync(file, "utf8"), /x{70000}/, "what cannot be read stays in the file");
  lab.stopServers();
  for (const one of [page, next]) await one.context().close();
});

test("forty connections that say nothing do not keep the server from answering", async () => {
  const report = lab.write("idle/r.json", reports()), address = await lab.serve(report, "--src", LADLE), { port } = new URL(address);
  const idle: Socket[] = [];
  for (let at = 0; at < 40; at++) idle.push(await new Promise<Socket>(done => { const socket = createConnection(Number(port), "127.0.0.1", () => done(socket)); socket.on("error", () => undefined); }));
  const begun = Date.now();
  assert.equal((await fetch(address)).status, 200);
  assert.ok(Date.now() - begun < 8_000, "no connection had to time out first");
  for (const socket of idle) socket.destroy();
  lab.stopServers();
});

const SCHEDULES = Number(process.env["SCHEDULES"] ?? 4);

test("random schedules of tabs, servers and kills lose nothing that was confirmed", async () => {
  let seed = Number(process.env["SEED"] ?? 1);
  const below = (bound: number): number => { seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0; return Math.floor(seed / 2 ** 32 * bound); };
  for (let round = 0; round < SCHEDULES; round++) {
    const report = lab.write(`random-${round}/r.json`, reports()), file = join(lab.folder, `random-${round}/r.triage.json`);
    const steps: string[] = [];
    // What a page has written into a field: confirmed last, and what it wrote over it since.
    const written = new Map<string, string[]>();
    const { page: first } = await lab.open("about:blank"), context = first.context();
    const servers: string[] = [];
    const tabs: { page: Page; server: number; token: string; load: number }[] = [];
    let loads = 0;
    const start = async (at: number) => { servers[at] = await lab.serve(report, "--src", LADLE); };
    await start(0);
    await start(1);
    const openTab = async () => { const page = await context.newPage(), server = below(2); await page.goto(servers[server]!); tabs.push({ page, server, token: servers[server]!, load: ++loads }); };
    await openTab();
    await openTab();
    let words = 0;
    for (let step = 0; step < 14; step++) {
      const tab = tabs[below(tabs.length)]!, { page } = tab;
      switch (below(7)) {
        case 0: {
          // A file that is edited beside them: by someone who takes their time.
          const now = kept(file), keys = Object.keys(now.records), key = keys[below(keys.length)];
          if (!key) break;
          const id = `hand.${++words}`;
          now.records[key] = { ...now.records[key]!, answers: [...now.records[key]!.answers ?? [], { id, field: `explain:hand-${words}`, value: `by hand ${words}`, author: "vi", time: "2026-01-01T00:00:00Z" } as never] };
          writeFileSync(`${file}.edit`, JSON.stringify(now));
          renameSync(`${file}.edit`, file);
          written.set(`hand ${words}`, [`by hand ${words}`]);
          steps.push("edited by hand");
          break;
        }
        case 1: {
          lab.kill(servers[tab.server]!);
          steps.push(`server ${tab.server} killed`);
          if (below(2)) await page.waitForTimeout(100);
          await start(tab.server);
          break;
        }
        case 2: await page.goto("about:blank"); await page.goto(servers[tab.server]!); tab.token = servers[tab.server]!; tab.load = ++loads; steps.push("tab opened anew"); break;
        case 3: if (tabs.length < 4) await openTab(); steps.push("another tab"); break;
        default: {
          const id = 1 + below(3), text = `words ${++words}`;
          await page.evaluate(address => { location.hash = address; }, `#R-0${id}`);
          await page.locator("#crumb", { hasText: `R-0${id}` }).waitFor();
          // Each writes into a field of its own, as a person does who goes on from question to question.
          await page.fill("#note", text);
          const done = below(2) ? await page.waitForFunction(() => document.getElementById("unsaved")?.hidden, undefined, { timeout: 2_500 }).then(() => true, () => false) : false;
          const field = `${tab.load} R-0${id}`;
          if (done) written.set(field, [text]); else written.get(field)?.push(text);
          steps.push(`${text} on R-0${id}${done ? ", confirmed" : ""}`);
        }
      }
    }
    // Everybody looks at a server that is there; what waits is sent.
    for (const tab of tabs) { await tab.page.goto("about:blank"); await tab.page.goto(servers[tab.server]!); await saved(tab.page); }
    const values = new Set(answersIn(file).map(answer => answer.value));
    for (const texts of written.values()) assert.ok(texts.some(text => values.has(text)), `${texts} is gone after ${steps.join("; ")}`);
    lab.stopServers();
    await context.close();
  }
});
