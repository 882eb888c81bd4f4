// Answers and what may happen to them: several tabs, several servers on one file, a file that is edited beside them, servers
// that are killed and come back. A schedule is random, and a model knows what was given and what was confirmed: all of that
// is in the file at the end, and what nobody has knowingly replaced stands.
//
// What the schedules do not have: a browser that is killed while it writes its own store, two machines with clocks that
// differ, a disk that is full, an editor that writes an old text over answers that only servers knew which have ended.

import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import test, { after } from "node:test";
import type { Page } from "playwright-core";
import { LADLE, Lab } from "./harness.ts";

const lab = new Lab();
after(() => lab.close());

interface Kept { readonly records: Record<string, { report: string; answers?: { id: string; field: string; value: string; author: string; time?: string; note?: string; replaces?: Record<string, number> }[] }> }
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

test("an answer given while the server was away finds its report, whose code has changed since", async () => {
  const src = join(lab.folder, "changed/ladle");
  cpSync(LADLE, src, { recursive: true });
  const report = lab.write("changed/r.json", reports()), file = join(lab.folder, "changed/r.triage.json");
  const { page } = await lab.open(`${await lab.serve(report, "--src", src)}#R-01`);
  const key = await page.evaluate(() => location.hash);
  lab.stopServers();
  await note(page, "kept for later");
  await page.waitForFunction(() => /does not answer/.test(document.getElementById("where")?.textContent ?? ""));
  // Another neighbour: the report is known under another key, and no file tells the one of before.
  const lines = readFileSync(join(src, "fetch.c"), "utf8").split("\n");
  lines.splice(20, 0, "    looked_at();");
  writeFileSync(join(src, "fetch.c"), lines.join("\n"));
  const moved = reports() as { reports: { location: { line: number }; paths: { steps: { location: { line: number } }[] }[] }[] };
  for (const at of [0, 2]) { moved.reports[at]!.location.line++; moved.reports[at]!.paths[0]!.steps[0]!.location.line++; }
  lab.write("changed/r.json", moved);
  await page.goto(`${await lab.serve(report, "--src", src)}${key}`);
  await saved(page);
  assert.match(await page.innerText("#where"), /not here|saved/);
  assert.deepEqual(answersIn(file).map(answer => answer.value), ["kept for later"]);
  lab.stopServers();
  await page.goto(`${await lab.serve(report, "--src", src)}#R-01`);
  await page.reload();
  const there = await page.inputValue("#note") === "kept for later" || await page.locator(".asked.perhaps").count() === 1;
  assert.ok(there, "carried over, or asked for");
  lab.stopServers();
  await page.context().close();
});

test("an answer that is refused does not hold up the others", async () => {
  const report = lab.write("refused/r.json", reports()), file = join(lab.folder, "refused/r.triage.json");
  const address = await lab.serve(report, "--src", LADLE);
  const { page } = await lab.open(`${address}#R-01`);
  await page.evaluate(() => {
    const data = JSON.parse(document.getElementById("page")!.textContent!) as { project: string; reports: { fingerprint: string }[] };
    const put = (key: string, id: string, value: string) => localStorage.setItem(`parallax-answers:${data.project}:${key}:${id}`, JSON.stringify({ answers: [{ id, field: "note", value, author: "", time: "2026-01-01T00:00:00Z" }] }));
    // Of a report that nothing is known of.
    put("0000", "t.1", "nowhere");
    data.reports.forEach((one, at) => put(one.fingerprint, `t.${at + 2}`, `good ${at}`));
  });
  await page.reload();
  await saved(page);
  assert.deepEqual(answersIn(file).map(answer => answer.value).sort(), ["good 0", "good 1", "good 2"]);
  lab.stopServers();
  await page.context().close();
});

test("what an editor saves over newer answers is put back by the server that has them", async () => {
  const report = lab.write("over/r.json", reports()), file = join(lab.folder, "over/r.triage.json");
  const { page } = await lab.open(`${await lab.serve(report, "--src", LADLE)}#R-01`);
  await note(page, "first");
  await saved(page);
  const old = readFileSync(file, "utf8");
  await page.evaluate(() => { location.hash = "#R-02"; });
  await page.locator("#crumb", { hasText: "R-02" }).waitFor();
  await note(page, "second");
  await saved(page);
  writeFileSync(file, old);
  for (let tries = 0; tries < 300 && !readFileSync(file, "utf8").includes("second"); tries++) await page.waitForTimeout(100);
  assert.deepEqual(answersIn(file).map(answer => answer.value).sort(), ["first", "second"]);
  lab.stopServers();
  await page.context().close();
});

test("the link to a report of a page that is made anew opens that report or none", async () => {
  const all = reports() as { reports: object[] };
  const { page } = await lab.open(`${lab.view([lab.write("names/r.json", all)], "--src", LADLE)}#R-02/1/1`);
  const link = await page.evaluate(() => location.hash), title = await page.innerText(".report-text h2, #title, .card h2");
  assert.match(link, /^#R-02~[0-9a-f]{6}\/1\/1$/);
  // The first is gone: what was R-02 is R-01 now.
  const fewer = lab.view([lab.write("names/fewer.json", { ...all, reports: all.reports.slice(1) })], "--src", LADLE);
  await page.goto(`${fewer}${link}`);
  assert.equal(await page.innerText("#crumb"), "R-01");
  assert.equal(await page.innerText(".report-text h2, #title, .card h2"), title);
  assert.match(await page.innerText("#where"), /R-02 of this link is R-01 now/);
  // The one meant is gone, and another has its name.
  const other = lab.view([lab.write("names/other.json", { ...all, reports: [all.reports[0], all.reports[2]] })], "--src", LADLE);
  await page.goto(`${other}${link}`);
  assert.equal(await page.getAttribute("body", "data-view"), "list");
  assert.match(await page.innerText("#where"), /not here: R-02 is another one now/);
  for (const strange of ["#%FF", "#R-99", "#R-01/7/7", "#R-01~000000", "#:", "#~"]) {
    await page.goto("about:blank");
    await page.goto(`${other}${strange}`);
    assert.ok((await page.innerText("body")).length > 100, strange);
  }
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
    // Someone who has the file in an editor, and saves what he read a while ago.
    let stale: { text: string; tag: string } | undefined;
    const missing = () => {
      const there = new Set(answersIn(file).flatMap(answer => [...answer.value.split("; "), ...(answer.note ?? "").split("; ")]));
      return [...written.values()].filter(texts => !texts.some(text => there.has(text)));
    };
    for (let step = 0; step < 16; step++) {
      const tab = tabs[below(tabs.length)]!, { page } = tab;
      switch (below(10)) {
        case 0: {
          // A file that is edited beside them: by someone who takes their time.
          const now = kept(file), keys = Object.keys(now.records), key = keys[below(keys.length)];
          if (!key) break;
          const id = `hand.${++words}`;
          now.records[key] = { ...now.records[key]!, answers: [...now.records[key]!.answers ?? [], { id, field: `explain:hand-${words}`, value: `by hand ${words}`, author: "vi", time: "2026-01-01T00:00:00Z" }] };
          writeFileSync(`${file}.edit`, JSON.stringify(now));
          renameSync(`${file}.edit`, file);
          written.set(`hand ${words}`, [`by hand ${words}`]);
          steps.push("edited by hand");
          break;
        }
        case 1: {
          // The editor notices that the file has changed since, and reads it again.
          stale = undefined;
          lab.kill(servers[tab.server]!);
          steps.push(`server ${tab.server} killed`);
          if (below(2)) await page.waitForTimeout(100);
          await start(tab.server);
          break;
        }
        case 2: await page.goto("about:blank"); await page.goto(servers[tab.server]!); tab.token = servers[tab.server]!; tab.load = ++loads; steps.push("tab opened anew"); break;
        case 3: if (tabs.length < 4) await openTab(); steps.push("another tab"); break;
        case 4: {
          if (!stale && existsSync(file)) { stale = { text: readFileSync(file, "utf8"), tag: `slow ${++words}` }; steps.push(`${stale.tag}: file opened in an editor`); break; }
          if (!stale) break;
          const now = JSON.parse(stale.text) as Kept, [key] = Object.keys(now.records);
          if (key) { now.records[key] = { ...now.records[key]!, answers: [...now.records[key]!.answers ?? [], { id: `hand.${stale.tag}`, field: `explain:${stale.tag}`, value: stale.tag, author: "vi", time: "2026-01-01T00:00:00Z" }] }; written.set(stale.tag, [stale.tag]); }
          writeFileSync(`${file}.edit`, JSON.stringify(now));
          renameSync(`${file}.edit`, file);
          steps.push(`${stale.tag}: an old text saved`);
          stale = undefined;
          // The servers that confirmed what was not in it put it back.
          for (let tries = 0; missing().length > 0 && tries < 200; tries++) await page.waitForTimeout(100);
          assert.deepEqual(missing(), [], `after ${steps.join("; ")}`);
          break;
        }
        case 5: {
          // A verdict on a row of the list, with its reason.
          const reason = `reason ${++words}`;
          await page.evaluate(() => { location.hash = "#list"; });
          await page.locator("tbody tr").first().waitFor();
          for (let down = below(3); down > 0; down--) await page.keyboard.press("j");
          await page.keyboard.press("x");
          await page.keyboard.press(below(2) ? "T" : "F");
          await page.fill("#bulk-reason", reason);
          await page.keyboard.press("Control+Enter");
          const done = await page.waitForFunction(() => document.getElementById("unsaved")?.hidden, undefined, { timeout: 2_500 }).then(() => true, () => false);
          if (done) written.set(reason, [reason]);
          steps.push(`${reason} in the list${done ? ", confirmed" : ""}`);
          break;
        }
        case 6: {
          // Answers of before are loaded once more.
          if (!existsSync(file)) break;
          const old = lab.write(`random-${round}/old-${step}.json`, readFileSync(file, "utf8"));
          await page.evaluate(() => { location.hash = "#list"; });
          await page.locator('[data-act="upload"]').waitFor();
          await page.setInputFiles('.list-head input[type=file]', old);
          steps.push("answers loaded again");
          break;
        }
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
    assert.deepEqual(missing(), [], `gone after ${steps.join("; ")}`);
    lab.stopServers();
    await context.close();
  }
});
