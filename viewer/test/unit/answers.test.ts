// Answers of several pages put together: whatever the order, nothing is lost, and what was not seen is not replaced.
// The schedules have pages that give, revise and take back answers, copies that lag behind, and copies put together
// twice; they do not have clocks that go backwards within a page, nor two pages with one name.

import assert from "node:assert/strict";
import test from "node:test";
import { changes, settle, standing, union, viewOf, type Giver } from "../../src/lib/answers.ts";
import type { Answer, StoredRecord, TriageRecord } from "../../src/lib/page.ts";

const empty: StoredRecord = { report: "R-1", title: "t" };
const giver = (page: string): Giver => { let given = 0; return { page, next: () => ++given }; };
let clock = 0;
const now = (): string => `2026-01-01T00:${String(Math.floor(++clock / 60) % 60).padStart(2, "0")}:${String(clock % 60).padStart(2, "0")}Z`;
const say = (record: TriageRecord, change: Partial<TriageRecord>, author = "ada"): TriageRecord => ({ ...record, ...change, author, time: now() });

test("a text that is typed is one answer, a verdict that is given again is another", () => {
  const page = giver("a");
  let stored = empty;
  const save = (change: Partial<TriageRecord>) => { for (const answer of changes(stored, say(viewOf(stored), change), page)) stored = union(stored, { answers: [answer] }); };
  save({ note: "x" });
  save({ note: "xy" });
  save({ note: "xyz" });
  assert.deepEqual(stored.answers?.map(({ id, value, revision }) => [id, value, revision]), [["a.1", "xyz", 2]]);
  save({ verdict: "false" });
  save({ verdict: null });
  save({ verdict: "true" });
  assert.equal(viewOf(stored).verdict, "true");
  assert.deepEqual(viewOf(stored).history?.map(one => one.verdict), ["false", null, "true"]);
});

test("of two who did not know of each other both stay, until one is kept", () => {
  const [ada, bob] = [giver("a"), giver("b")];
  const give = (by: Giver, verdict: "true" | "false") => ({ answers: changes(empty, say(viewOf(empty), { verdict }), by) });
  let both = union(union(empty, give(ada, "true")), give(bob, "false"));
  assert.equal(viewOf(both).verdict, null);
  assert.deepEqual(viewOf(both).conflicts?.map(({ field, answers }) => [field, answers.map(answer => answer.value)]), [["verdict", ["true", "false"]]]);
  // An answer to something else leaves it as it is.
  both = union(both, { answers: changes(both, say(viewOf(both), { answers: { q: "yes" } }), ada) });
  assert.equal(viewOf(both).conflicts?.length, 1);
  both = union(both, { answers: settle(both, "verdict", "false", "ada", now(), ada) });
  assert.equal(viewOf(both).verdict, "false");
  assert.equal(viewOf(both).conflicts?.length, 0);
});

test("a text that another has replaced meanwhile is not lost", () => {
  const [ada, bob] = [giver("a"), giver("b")];
  let mine = union(empty, { answers: changes(empty, say(viewOf(empty), { note: "first" }), ada) });
  const theirs = union(mine, { answers: changes(mine, say(viewOf(mine), { note: "theirs" }, "bob"), bob) });
  mine = union(mine, { answers: changes(mine, say(viewOf(mine), { note: "first, longer" }), ada) });
  const all = union(mine, theirs);
  assert.deepEqual(standing(all.answers ?? [], "note").map(answer => answer.value).sort(), ["first, longer", "theirs"]);
});

test("random schedules of pages come together to one thing, in which all stands that nobody has knowingly replaced", () => {
  let seed = 1;
  const below = (bound: number): number => { seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0; return Math.floor(seed / 2 ** 32 * bound); };
  const words = ["", "yes", "no", "perhaps"];
  for (let round = 0; round < 300; round++) {
    const pages = ["a", "b", "c"].map(name => ({ giver: giver(name), stored: empty, view: viewOf(empty) }));
    // What was given, with what its giver had on screen: the truth that the answers are held against.
    const given: { answer: Answer; seen: Readonly<Record<string, number>> }[] = [];
    for (let at = 0; at < 25; at++) {
      const page = pages[below(3)]!;
      switch (below(4)) {
        case 0: page.view = viewOf(page.stored); break;
        case 1: { const other = pages[below(3)]!; page.stored = union(page.stored, other.stored); break; }
        default: {
          const field = ["note", "explain:p", "answer:q"][below(3)]!, value = words[below(4)]!;
          const seen = page.view.base?.heads[field] ?? {};
          const change = field === "note" ? { note: value } : field === "explain:p" ? { explanations: { p: value } } : { answers: { q: value } };
          const news = changes(page.stored, say(page.view, change), page.giver);
          for (const answer of news) given.push({ answer, seen: answer.revision ? { ...answer.replaces } : seen });
          page.stored = union(page.stored, { answers: news });
          page.view = viewOf(page.stored);
        }
      }
    }
    const merged = [[0, 1, 2], [2, 1, 0], [1, 2, 0, 1]].map(order => order.reduce<StoredRecord>((sum, at) => union(sum, pages[at]!.stored), empty));
    for (const other of merged.slice(1)) assert.deepEqual(other, merged[0]);
    const latest = new Map<string, Answer>();
    for (const { answer } of given) if ((latest.get(answer.id)?.revision ?? -1) < (answer.revision ?? 0)) latest.set(answer.id, answer);
    for (const field of ["note", "explain:p", "answer:q"]) {
      const expected = [...latest.values()].filter(answer => answer.field === field && !given.some(one => one.answer.field === field && (one.seen[answer.id] ?? -1) >= (answer.revision ?? 0))).map(answer => answer.id).sort();
      assert.deepEqual(standing(merged[0]!.answers ?? [], field).map(answer => answer.id).sort(), expected, `round ${round}, ${field}`);
    }
  }
});
