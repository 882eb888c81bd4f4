import assert from "node:assert/strict";
import test from "node:test";
import { applies, isDone, tabsOf } from "../../src/lib/checklist.ts";
import { depthOf, excludes, grouped, locksOf, noteOf, pathTitle, summaryOf } from "../../src/lib/describe.ts";
import { filtered, noFilter, progress, rowsFor } from "../../src/lib/list.ts";
import type { Checklist, Report, TriageRecord } from "../../src/lib/page.ts";
import { addQuery, matchesIn, parseTerm } from "../../src/lib/query.ts";
import { accessRange, runsOf } from "../../src/lib/runs.ts";
import { linesOf, placeAndWords } from "../../src/lib/text.ts";
import { emptyRecord, readTriage, stateOf, writeTriage } from "../../src/lib/triage.ts";
import { path, queriesOf, step } from "./fixture.ts";

test("terms are plain unless they stand between slashes", () => {
  assert.deepEqual(matchesIn("a.b(axb", queriesOf("a.b")).map(match => match.start), [0]);
  assert.deepEqual(matchesIn("a.b(axb", queriesOf("/a.b/")).map(match => match.start), [0, 4]);
  assert.deepEqual(matchesIn("Malloc", queriesOf("/malloc/i")).length, 1);
  for (const wrong of ["/(/", "", "  ", "/x*/", "/$/"]) assert.equal(parseTerm(wrong), undefined, wrong);
});

test("every query has its own hue, and a removed hue is used again", () => {
  const queries = queriesOf("a", "b", "c");
  assert.deepEqual(queries.map(query => query.hue), [1, 2, 3]);
  assert.deepEqual(addQuery(queries.filter(query => query.term !== "b"), "d")?.map(query => query.hue), [1, 3, 2]);
  assert.equal(addQuery(queries, "a"), queries);
  assert.deepEqual(queriesOf("a", "b", "c", "d", "e", "f", "g").map(query => query.hue), [1, 2, 3, 4, 5, 6, 1]);
});

test("a line is cut where syntax, matches and the access begin and end, and nothing is lost", () => {
  const text = "  count += next(count);";
  const line = { text, tokens: "d2,5,3 d11,4,7 d16,5,3" };
  const { runs, cut } = runsOf(line, matchesIn(text, queriesOf("count", "unt +")), { callee: "next", access: [2, 7] });
  assert.equal(runs.map(run => run.text).join(""), text);
  assert.equal(cut, 0);
  assert.deepEqual(runs.filter(run => run.definition === 3).map(run => run.text).join(""), "countcount");
  assert.deepEqual(runs.filter(run => run.callee).map(run => run.text), ["next"]);
  assert.equal(runs.filter(run => run.access).map(run => run.text).join(""), "count");
  assert.equal(runsOf({ text: "x".repeat(5_000), tokens: "" }, [], {}).cut, 3_000);
});

test("what goes wrong is underlined as precisely as the tool says", () => {
  const text = "    x = job->part[i].pos + *p;";
  const underlined = (columns: readonly [number, number | null] | undefined) => text.slice(...accessRange(text, columns));
  assert.equal(underlined([9, 12]), "job");
  assert.equal(underlined([9, null]), "job->part[i].pos");
  assert.equal(underlined(undefined), "x = job->part[i].pos + *p");
  assert.equal(underlined([500, null]), "x = job->part[i].pos + *p");
  const at = (line: string, column: number) => line.slice(...accessRange(line, [column, null]));
  assert.equal(at("static void bump(int by) { hits += by; }", 33), "hits += by");
  assert.equal(at("  job->part[i].pos = 0;", 20), "job->part[i].pos = 0");
  assert.equal(at("  *p = 0;", 3), "*p = 0");
  assert.equal(at("  (*p)();", 3), "(*p)()");
});

test("locks are read as tools write them", () => {
  assert.equal(locksOf(step(1)), undefined);
  for (const none of ["", "<empty>", "{}", "none", "[]"]) assert.deepEqual(locksOf(step(1, { s: [["locks held", none]] })), [], none);
  assert.deepEqual(locksOf(step(1, { s: [["Locks", "{a, b}"]] })), ["a", "b"]);
  assert.deepEqual(locksOf(step(1, { s: [["Locks", "guard of a, M1 (read)"]] })), ["guard of a", "M1 (read)"], "names may have blanks");
  assert.ok(excludes(["M0", "a"], ["b", "M0"]) && excludes(["M0 (read)"], ["M0"]));
  assert.ok(!excludes(["M0 (read)"], ["M0 (read)"]) && !excludes(["at a"], ["at b"]) && !excludes([], []), "readers run at once");
});

test("a line's end says what the code does not", () => {
  const callee = { fn: "g", items: [], thread: "T1" };
  assert.deepEqual(noteOf(step(1, { r: "call", m: "Calling 'g'" }), callee, []).condition, { icon: "thread", text: "starts T1" });
  assert.equal(noteOf(step(1, { r: "call", m: "Calling 'g'" }), callee, []).message, undefined);
  assert.equal(noteOf(step(1, { t: true, m: "Taking true branch" }), undefined, []).message, undefined);
  assert.equal(noteOf(step(1, { t: false, m: "Assuming 'p' is null" }), undefined, []).message, "Assuming 'p' is null");
  assert.equal(noteOf(step(1, { x: true, a: "write", s: [["locks held", ""]] }), undefined, []).failing, "write, no lock held");
  assert.equal(summaryOf(step(1, { r: "call" }), callee, ""), "FORK g");
});

test("paths are named by where they begin and end", () => {
  const nested = path([{ fn: "main", items: [0, -2] }, { fn: "g", items: [1] }], [step(1), step(2, { x: true })]);
  assert.equal(pathTitle(nested), "`main` to `g`");
  assert.equal(depthOf(nested), 2);
});

const race: Checklist = {
  name: "race", title: "", presets: [], verdicts: {},
  tabs: [
    { for: "path", when: "no-locks", title: "Path {i}", questions: [{ id: "loop", text: "{i}?" }, { id: "otherwise", text: "", if: { loop: "yes" } }] },
    { for: "pair", when: "no-common-lock", title: "Paths {i} & {j}", questions: [{ id: "relation", text: "", options: [["pc", ""], ["cc", ""]] }, { id: "after", text: "", if: { relation: "pc" } }, { id: "join", text: "", if: { after: "yes" } }] },
  ],
};
const ending = (locks: string | undefined) => path([{ items: [0] }], [step(1, { x: true, ...(locks !== undefined && { s: [["locks held", locks]] as const }) })]);
const report = (change: Partial<Report> = {}): Report =>
  ({ id: "R-01", fingerprint: "f", rule: "race", title: "t", text: [], severity: 2, tool: "x", place: "a.c:1", paths: [], related: [], checklist: 0, ...change });

test("only paths that end in an access are asked about, where the tool says which do", () => {
  const ends = (a?: "read" | "write") => path([{ fn: "f", items: [0] }], [step(1, { x: !!a, ...(a && { a }) })]);
  const titles = (...paths: ReturnType<typeof ends>[]) => tabsOf(race, { paths } as unknown as Report).map(tab => tab.title);
  assert.deepEqual(titles(ends("read"), ends("write"), ends()), ["Path 1", "Path 2", "Paths 1 & 2"]);
  assert.deepEqual(titles(ends(), ends()), ["Path 1", "Path 2", "Paths 1 & 2"]);
});

test("tabs are made for each path without locks and each pair without a common one", () => {
  const titles = (...locks: (string | undefined)[]) => tabsOf(race, report({ paths: locks.map(ending) })).map(tab => tab.title);
  assert.deepEqual(titles("", ""), ["Path 1", "Path 2", "Paths 1 & 2"]);
  assert.deepEqual(titles("a", ""), ["Path 2", "Paths 1 & 2"]);
  assert.deepEqual(titles("a", "b"), ["Paths 1 & 2"]);
  assert.deepEqual(titles("a", "a, b"), []);
  assert.deepEqual(titles(undefined, undefined, ""), ["Path 1", "Path 2", "Path 3", "Paths 1 & 2", "Paths 1 & 3", "Paths 2 & 3"]);
});

test("a question counts only while those before it lead to it", () => {
  const tab = tabsOf(race, report({ paths: [ending(""), ending("")] }))[2]!;
  const [, after, join] = tab.questions;
  assert.equal(applies(tab, after!, {}), false);
  assert.equal(applies(tab, join!, { "paths-1-2.relation": "cc", "paths-1-2.after": "yes" }), false);
  assert.equal(isDone(tab, { "paths-1-2.relation": "cc" }), true);
  assert.equal(isDone(tab, { "paths-1-2.relation": "pc", "paths-1-2.after": "yes" }), false);
  assert.equal(isDone(tab, { "paths-1-2.relation": "pc", "paths-1-2.after": "yes", "paths-1-2.join": "no" }), true);
});

const judged = (verdict: TriageRecord["verdict"], time = "2026-01-01T00:00:00Z"): TriageRecord => ({ ...emptyRecord("t"), verdict, time });

test("a report's state comes from its record, and from a suppression where there is none", () => {
  assert.equal(stateOf(report(), undefined), "open");
  assert.equal(stateOf(report(), emptyRecord("t")), "open");
  assert.equal(stateOf(report(), { ...emptyRecord("t"), answers: { a: "yes" } }), "started");
  assert.equal(stateOf(report(), judged("unsure")), "unsure");
  assert.equal(stateOf(report({ suppressed: "" }), undefined), "false");
  assert.equal(stateOf(report({ suppressed: "" }), judged("true")), "true");
});

test("a triage file is read back as written, what of it is broken is named, and anything else is refused", () => {
  const answer = { id: "t.1", field: "note", value: "x", author: "ada", time: "2026-01-01T00:00:00Z", revision: 2, replaces: { "s.1": 0 } };
  const records = { a: { report: "R-1", title: "t", answers: [answer] }, b: { report: "R-2", title: "u" } };
  assert.deepEqual(readTriage(writeTriage(records)), { records, broken: [] });
  const broken = { ...records, c: { report: "R-3", title: "v", answers: [{ ...answer, value: "x".repeat(70_000) }] }, d: 7, e: { answers: [{ id: 1 }] } };
  assert.deepEqual(readTriage(writeTriage(broken as never)), { records, broken: ["R-3", "d", "e"] });
  for (const wrong of ["", "{}", "[]", "null", '{"format":"parallax-triage/1","records":{}}', '{"format":"parallax-triage/2"}', '{"format":"parallax-triage/2","records":null}']) {
    assert.equal(typeof readTriage(wrong), "string", wrong);
  }
});

test("the list filters by state, severity and words, and sorts numbers as numbers", () => {
  const reports = [report({ id: "R-01", place: "b.c:9", severity: 3 }), report({ id: "R-02", place: "b.c:10", fingerprint: "g", title: "leak" }), report({ id: "R-03", place: "a.c:1", fingerprint: "h" })];
  const rows = rowsFor(reports, { g: judged("true") });
  const ids = (filter: Partial<typeof noFilter>) => filtered(rows, { ...noFilter, ...filter }).map(row => row.report.id.slice(-1)).join("");
  assert.equal(ids({}), "123");
  assert.equal(ids({ state: "open" }), "13");
  assert.equal(ids({ severity: 3 }), "1");
  assert.equal(ids({ text: "LEAK b.c" }), "2");
  assert.equal(ids({ sort: "place" }), "312");
  assert.equal(ids({ sort: "place", descending: true }), "213");
  assert.equal(ids({ sort: "state", descending: true }), "213");
  assert.deepEqual([progress(rows).triaged, progress(rows).total, progress(rows).counts.open], [1, 3, 2]);
});

test("the report text is cut into lines: headings, steps and words, with their indentation", () => {
  const link = (path: number, at: number) => ({ step: { path, step: at } });
  const lines = linesOf([
    { text: "\nWarning: race on x\n\nfirst access\n    " }, { text: "a.c:3: write", link: link(0, 0) }, { text: "\n  see " },
    { text: "b.c:4", link: link(0, 1) }, { text: " too\r\n\n\n" },
  ]);
  assert.deepEqual(lines.map(line => [line.kind, line.indent, line.pieces.map(piece => piece.text).join("|")]), [
    ["words", 0, "Warning: race on x"], ["blank", 0, ""], ["heading", 0, "first access"], ["step", 4, "a.c:3: write"], ["words", 2, "see |b.c:4| too"],
  ]);
  assert.deepEqual(linesOf([]), []);
  assert.deepEqual(linesOf([{ text: "one", link: link(0, 0) }]).map(line => line.kind), ["step"]);
});

test("a line's place is told from its words", () => {
  assert.deepEqual(placeAndWords("src/a.c:12: calls f: then g"), ["src/a.c:12", "calls f: then g"]);
  assert.deepEqual(placeAndWords("a.c:12:7: warning: x"), ["a.c:12", "warning: x"]);
  assert.deepEqual(placeAndWords("main.c:81     FORK t"), ["main.c:81", "FORK t"]);
  assert.deepEqual(placeAndWords("C:/x y.c"), ["", "C:/x y.c"]);
  assert.deepEqual(placeAndWords("a.c:7"), ["a.c:7", ""]);
});

test("numbers keep their thousands apart", () => {
  assert.deepEqual([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
});
