// Comparing, loops, values, groups, help texts and addresses: the pure side of them.

import assert from "node:assert/strict";
import test from "node:test";
import { nameOf, parseAddress, reportAt, writeAddress } from "../../src/lib/address.ts";
import { align, compare, missing } from "../../src/lib/compare.ts";
import { calleesOf, passingSteps, spaced, spacedPair } from "../../src/lib/describe.ts";
import { agreement, familiesOf, plainTitle } from "../../src/lib/groups.ts";
import { keepInStep } from "../../src/lib/instep.ts";
import { rowHeight, rowsOf, SIZE, topOf, type Layout } from "../../src/lib/layout.ts";
import { rowsFor } from "../../src/lib/list.ts";
import { iterationLabels, offered, type Loop } from "../../src/lib/loops.ts";
import { blocksOf, spansOf } from "../../src/lib/markdown.ts";
import { interleaved } from "../../src/lib/order.ts";
import type { Page, Path, Report, Step } from "../../src/lib/page.ts";
import { patchOf } from "../../src/lib/patch.ts";
import { shapeOf } from "../../src/lib/shapes.ts";
import { sourcesOf } from "../../src/lib/source.ts";
import { originOf, sign, valuesOf } from "../../src/lib/values.ts";
import { file, layout, path, step, told } from "./fixture.ts";

const page = (reports: readonly Report[] = []): Page => ({ format: "parallax-page/1", name: "p", project: "p", made: 0, author: "", files: [file()], definitions: [], reports, checklists: [], triage: { format: "parallax-triage/2", records: {} }, notes: [] });
const flat = (...steps: readonly Step[]): Path => path([{ items: steps.map((_, at) => at) }], steps);

test("iterations that repeat become one and a count", () => {
  const loop = flat(step(2), step(4), step(6), step(4), step(6), step(4), step(6), step(9));
  const plain = layout(loop);
  assert.equal(told(plain.roots[0]!), "1 2:0 4:5*3 5 6:6 (7-7) 8 9:7 (10-10) 11", "the last one, which goes on, is the one that is shown");
  assert.deepEqual([...plain.hidden.keys()].sort((a, b) => a - b), [1, 2, 3, 4]);
  assert.equal(told(layout(loop, { loops: [["0.3", 0]] }).roots[0]!), "1 2:0 4:1*3 <0> 5 6:2 (7-7) 8 9:7 (10-10) 11", "opened, the iterations are listed and any of them can be drawn");
  assert.deepEqual(plain.hidden.get(4), { loop: "0.3", iteration: 1 }, "what hides a step is known");
  const five = flat(...[4, 6, 4, 6, 4, 6, 4, 6, 4, 6].map(line => step(line)));
  assert.match(told(layout(five).roots[0]!), /4:8\*5 5 6:9/, "all five are one");
  assert.equal(layout(five).hidden.size, 8);
  assert.equal(layout(five, { loops: [["0.2", "all"]] }).hidden.size, 0, "opened, each is there");
});

test("a value is told when it changes, with what it was", () => {
  const one = flat(step(2, { v: [["n", "1"]] }), step(4, { v: [["n", "1"], ["p", "0"]] }), step(6, { v: [["n", "7"]] }));
  assert.deepEqual(valuesOf(one).map(values => values.map(({ name, value, old, same }) => [name, value, old, same])),
    [[["n", "1", undefined, false]], [["n", "1", undefined, true], ["p", "0", undefined, false]], [["n", "7", "1", false]]]);
  assert.equal(originOf(one, 2, "n"), 1);
  assert.equal(originOf(one, 0, "n"), undefined);
  // The same name in a callee is another variable; a parameter leads to the call.
  const called = path([{ items: [0, 1, -2] }, { items: [2] }], [step(2, { v: [["n", "1"]] }), step(4, { r: "call" }), step(2, { r: "entry", v: [["n", "9"]] })]);
  assert.equal(valuesOf(called)[2]?.[0]?.old, undefined);
  assert.equal(originOf(called, 2, "n"), 1);
  assert.deepEqual(["1", "< n", "!= 0", "<x>", "-1"].map(sign), [" = ", " ", " ", " = ", " = "], "a comparison brings its own sign");
});

test("paths are aligned by function and line, and part where they first differ", () => {
  const a = flat(step(2), step(4, { t: true }), step(5), step(9, { v: [["n", "1"]], x: true }));
  const b = flat(step(2), step(4, { t: false }), step(9, { v: [["n", "2"]] }));
  const found = compare(a, b, page());
  assert.deepEqual(found.pairs, [{ a: 0, b: 0 }, { a: 1, b: 1 }, { a: 3, b: 2 }]);
  assert.deepEqual(found.parting, { a: 1, b: 1 }, "a condition that goes the other way is the turning point");
  assert.deepEqual(found.differences.map(one => one.kind), ["outcome", "only-a", "value"]);
  assert.equal(found.sentence, "Alike for 1 step. Then the condition at f.c:4 holds in A and not in B.");
  assert.equal(compare(a, a, page()).parting, undefined);
  assert.equal(compare(a, a, page()).sentence, "The two paths take the same steps.");
  assert.equal(compare(flat(step(2)), flat(step(4)), page()).sentence, "The two paths have no step in common.");
});

test("alignments keep order, pair equals with equals, and are as long as can be", () => {
  let seed = 7;
  const roll = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
  const lcs = (a: string[], b: string[]): number => {
    const best = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) best[i]![j] = a[i] === b[j] ? best[i + 1]![j + 1]! + 1 : Math.max(best[i + 1]![j]!, best[i]![j + 1]!);
    return best[0]![0]!;
  };
  for (let round = 0; round < 300; round++) {
    const word = () => Array.from({ length: roll(12) }, () => "abc"[roll(3)]!);
    const a = word(), b = word(), pairs = align(a, b);
    pairs.forEach((pair, at) => {
      assert.equal(a[pair.a], b[pair.b]);
      const next = pairs[at + 1];
      assert.ok(!next || (next.a > pair.a && next.b > pair.b));
    });
    assert.equal(pairs.length, lcs(a, b), `${a.join("")} ${b.join("")}`);
  }
});

test("in step, the same steps stand on the same height", () => {
  const a = flat(step(2), step(4), step(5), step(6), step(9)), b = flat(step(2), step(9)), found = compare(a, b, page());
  const [left, right] = [layout(a), layout(b)];
  keepInStep(left, right, found, []);
  for (const pair of found.pairs) assert.equal(topOf(left.places[pair.a]!), topOf(right.places[pair.b]!), `steps ${pair.a} and ${pair.b}`);
});

test("in step, whatever the paths: pairs meet, order stays, and the bar is above what differs", () => {
  let seed = 3;
  const roll = (sides: number) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * sides); };
  /** A path that wanders through f and, now and then, through a box inside it. */
  const wander = (): Path => {
    const frames: { items: number[]; fn: string }[] = [{ items: [], fn: "f" }], steps: Step[] = [];
    for (let count = 3 + roll(9); count > 0; count--) {
      frames[0]!.items.push(steps.length);
      steps.push(step(2 + roll(9)));
      if (roll(3) > 0) continue;
      const inner: number[] = [];
      for (let more = 1 + roll(3); more > 0; more--) { inner.push(steps.length); steps.push(step(2 + roll(9))); }
      frames.push({ items: inner, fn: "g" });
      frames[0]!.items.push(-frames.length);
    }
    return path(frames, steps);
  };
  /** The path as far as some step. */
  const until = ({ frames, steps }: Path, end: number): Path => {
    const begun = (item: number) => (item >= 0 ? item < end : (frames[-item - 1]?.items[0] ?? end) < end);
    return path(frames.map(frame => ({ ...frame, items: frame.items.filter(begun) })), steps.slice(0, end));
  };
  for (let round = 0; round < 600; round++) {
    const a = wander(), b = [() => a, () => until(a, 1 + roll(a.steps.length)), wander, wander][roll(4)]!(), found = compare(a, b, page());
    const [left, right] = [layout(a), layout(b)];
    const bar = keepInStep(left, right, found, []);
    const at = (side: Layout, step: number) => { const place = side.places[side.shownBy.get(step) ?? step]; return place && topOf(place); };
    let below: readonly [number, number] = [-1, -1];
    for (const pair of found.pairs) {
      const one = at(left, pair.a), other = at(right, pair.b);
      // Steps that share a line with the pair before, or an iteration that stands for them, cannot move by themselves.
      if (one === undefined || other === undefined || one <= below[0] || other <= below[1]) continue;
      assert.equal(one, other, `round ${round}: steps ${pair.a} and ${pair.b}`);
      below = [one, other];
    }
    for (const side of [left, right]) {
      const tops = side.places.flatMap(place => (place ? [topOf(place)] : []));
      assert.ok(tops.every((top, at) => at === 0 || top >= tops[at - 1]!), `round ${round}: in reading order`);
    }
    // The bar is as high as a line, and covers none.
    if (bar !== undefined) for (const side of [left, right]) for (const place of rowsOf(side.roots)) {
      const row = place.node.rows[place.row]!, top = topOf(place), height = row.kind === "frame" ? SIZE.head : rowHeight(row, []);
      assert.ok(height === 0 || top >= bar + 10 || top + height <= bar - 10, `round ${round}: ${row.kind} at ${top} and the bar at ${bar}`);
    }
    if (bar !== undefined && found.pairs.length) for (const pair of found.pairs) if (pair.a < (found.parting?.a ?? Infinity) && pair.b < (found.parting?.b ?? Infinity)) {
      const one = at(left, pair.a);
      // A line on which one side goes on alone is common and not: the bar stands above it.
      if (one === at(left, found.parting?.a ?? -1) || at(right, pair.b) === at(right, found.parting?.b ?? -1)) continue;
      if (one !== undefined) assert.ok(one < bar, `round ${round}: what is alike stands above the bar`);
    }
  }
});

test("a loop's last iteration may go further, and counts", () => {
  const passes = (...lines: number[][]) => { const all = lines.flat(); return layout(flat(...all.map(line => step(line)))); };
  assert.equal(told(passes([2], [4, 6], [4, 6], [4, 6, 7]).roots[0]!).match(/\*(\d+)/)?.[1], "3");
  assert.equal(told(passes([2], [4, 6], [4, 6], [4, 7]).roots[0]!).match(/\*(\d+)/)?.[1], "2", "one that goes another way does not");
});

test("statements that differ in their parts have one shape", () => {
  assert.equal(shapeOf('snprintf(path, sizeof path, "%s.ladle", job->name);'), "snprintf(□, sizeof □, □, □)");
  assert.equal(shapeOf('snprintf(u->host, sizeof u->host, "%.*s", n);'), "snprintf(□, sizeof □, □, □)");
  assert.equal(shapeOf("close(fd);"), shapeOf("close(pipe[1]);"));
  assert.notEqual(shapeOf("close(fd);"), shapeOf("fclose(f);"));
  assert.equal(plainTitle("Potential leak of memory pointed to by 'p' at line 12"), plainTitle("Potential leak of memory pointed to by 'q' at line 9"));
});

test("like reports are a group, and one whose result is used differs", () => {
  const lines = ["void f(void) {", "close(a);", "close(b);", "int r = close(c);", "open(d);", "}"];
  const data = { ...file(), chunks: [{ first: 1, lines, tokens: lines.map(() => "") }] };
  const report = (line: number): Report => ({ id: `R-${line}`, fingerprint: String(line), rule: "r", title: "t", text: [], severity: 2, tool: "x", place: `f.c:${line}`, paths: [flat(step(line, { x: true }))], related: [], checklist: 0 });
  const one = { ...page([2, 3, 4, 5].map(report)), files: [data] };
  const families = familiesOf(rowsFor(one.reports, {}), one, sourcesOf(one), "rule");
  assert.equal(families.length, 1);
  assert.deepEqual(families[0]?.groups.map(group => [group.shapes[0], group.members.length, group.members.filter(member => member.differs).length]), [["close(□)", 3, 1], ["open(□)", 1, 0]]);
  assert.equal(familiesOf(rowsFor(one.reports, {}), one, sourcesOf(one), "sink").length, 2);
});

test("links that lead nowhere safe are words", () => {
  assert.deepEqual(spansOf("see [a](https://e.org/) and [b](javascript:alert(1)) or `c`").filter(span => span.url), [{ text: "a", url: "https://e.org/" }]);
  assert.ok(spansOf("[b](javascript:x)").every(span => span.url === undefined && span.text.includes("javascript:")));
  assert.deepEqual(spansOf("[w](https://e.org/a_(b)) end").map(span => span.text), ["w", " end"]);
  assert.deepEqual(spansOf("[b](javascript:alert(1))").map(span => span.text), ["[b](javascript:alert(1))"]);
  assert.deepEqual(blocksOf("# T\n\ntext\n- one\n```\nx <b>\n```").map(block => block.kind), ["heading", "words", "item", "code"]);
});

test("addresses name what they open", () => {
  for (const written of ["#list", "#R-04", "#R-04/2/7", "#R-01/1:R-02/3", "#R-04~3fa9c1/2/7", "#R-01~3fa9c1/1:R-02~00aa11/3/4"]) assert.equal(writeAddress(parseAddress(written.slice(1))!), written);
  assert.deepEqual(parseAddress("R-04/x/-1"), { kind: "report", report: "R-04" });
  assert.equal(parseAddress(""), undefined);
});

test("an address never opens another report than the one it was made of", () => {
  const now = [{ id: "R-01", fingerprint: "aaaaaa11" }, { id: "R-02", fingerprint: "bbbbbb22" }, { id: "R-03", fingerprint: "bbbbbb22" }];
  assert.equal(reportAt(now, nameOf(now[1]!)), 1);
  assert.equal(reportAt(now, nameOf(now[2]!)), 2, "of two that are the same to the letter the name tells");
  assert.equal(reportAt(now, { report: "R-02", key: "aaaaaa" }), 0, "it has another name now");
  assert.equal(reportAt(now, { report: "R-02", key: "cccccc" }), -1, "what has its name is another one");
  assert.equal(reportAt(now, { report: "R-02" }), 1);
});

test("iterations are told apart by the values that change", () => {
  const loop: Loop = { key: "", count: 3, open: true, shown: 2, head: 4, iterations: [[0], [1], [2]] };
  const one = flat(...[0, 1, 2].map(i => step(4, { v: [["n", "5"], ["i", String(i)]] })));
  assert.deepEqual(iterationLabels(one, loop, [0, 1, 2]), ["i = 0", "i = 1", "i = 2"]);
  const many: Loop = { ...loop, count: 2498, shown: 1200 };
  assert.deepEqual(offered(many), [0, 1, 2, 1199, 1200, 1201, 2495, 2496, 2497]);
});

test("functions that only pass the call on share the head of the one they call", () => {
  const call = (line: number) => step(line, { r: "call" });
  const chain = path([{ items: [0, -2], fn: "a" }, { items: [1, -3], fn: "b" }, { items: [2, 3, -4], fn: "c" }, { items: [4], fn: "d" }], [call(2), call(4), step(4, { r: "branch", t: true }), call(5), step(9, { x: true })]);
  const passing = passingSteps(chain);
  assert.deepEqual([...passing], [0, 1, 3]);
  const closed = layout(chain, { manner: { passing } });
  assert.deepEqual(closed.roots[0]!.via.map(one => [one.frame.fn, one.depth]), [["a", 0], ["b", 1]]);
  assert.equal(closed.roots[0]!.frame.fn, "c", "which has a condition to tell");
  assert.equal(closed.roots[0]!.depth, 2);
  assert.equal(closed.roots[0]!.level, 0);
  assert.deepEqual([...closed.hidden], [[0, { chain: 0 }], [1, { chain: 1 }]]);
  assert.deepEqual(layout(chain, { manner: { passing }, chains: [0] }).roots[0]!.via, [], "one that is taken out has its own box");
  assert.equal(passingSteps({ ...chain, stack: true }).size, 0, "of a stack the calls are all there is");
});

test("a thread that runs in between is not started by the step before it", () => {
  const steps = [step(2, { r: "call" }), step(4, { r: "access", a: "read" }), step(5), step(6)];
  const one = path([{ items: [0, -2], fn: "main" }, { items: [1, -3, 3], fn: "work", thread: "T2" }, { items: [2], fn: "tick", thread: "T1" }], steps);
  assert.deepEqual([...calleesOf(one)].map(([at, frame]) => [at, frame.fn]), [[0, "work"]]);
});

test("left out because alike, steps become a count; strips at either end of a function may go", () => {
  const one = flat(step(2), step(4), step(5), step(6), step(9));
  assert.equal(told(layout(one, { manner: { alike: new Set([0, 1, 2]) } }).roots[0]!).split(" ")[0], "=3");
  assert.equal(told(layout(flat(step(5)), { manner: { tight: true } }).roots[0]!), "4 5:0 (6-7) 8", "only what frames the step is left");
});

test("steps that both take at another time cross, and the gap says where they went", () => {
  const a = flat(step(2), step(4), step(5), step(6), step(9)), b = flat(step(2), step(9), step(4), step(5), step(6)), found = compare(a, b, page());
  assert.deepEqual(found.moves, [{ a: 4, b: 1 }]);
  assert.equal(found.differences[0]?.kind, "order");
  assert.equal(missing(found, a, b, "b", 4, 4), "no such step: it came first, step 2");
  assert.equal(missing(found, a, b, "a", 1, 1), "no such step: it comes later, step 5");
  const threads = (name: string) => path([{ items: [0, -2, 2], fn: "main", thread: "T5" }, { items: [1], fn: "tick", thread: name }], [step(2), step(4), step(9)]);
  const other = path([{ items: [0, 1], fn: "main", thread: "T5" }], [step(2), step(9)]);
  const turned = compare(threads("T1"), other, page());
  assert.deepEqual(turned.clauses, ["switches to T1", "stays in T5"]);
  assert.equal(turned.sentence, "Alike for 1 step. Then A lets T1 run; B stays in T5.");
  assert.deepEqual(compare(threads("T1"), threads("T9"), page()).differences, [], "threads go by what they begin with where their names differ");
});

test("numbers are grouped, and what two long ones begin with alike is left out", () => {
  assert.deepEqual([spaced("54591488"), spaced("1234"), spaced("0x12345678"), spaced("-123456")], ["54\u2009591\u2009488", "1234", "0x12345678", "-123\u2009456"]);
  assert.deepEqual(spacedPair("1024660848", "1024677232"), ["\u2026660\u2009848", "\u2026677\u2009232"]);
  assert.deepEqual(spacedPair("54591488", "54607872"), ["54\u2009591\u2009488", "54\u2009607\u2009872"]);
});

test("the order of all paths, by their numbers", () => {
  const [one, two] = [flat(step(2, { o: 1 }), step(4), step(6, { o: 4 })), flat(step(5, { o: 2 }), step(8, { o: 3 }))];
  assert.deepEqual(interleaved([one, two]).steps.map(({ path, step }) => `${path}.${step}`), ["0.0", "0.1", "1.0", "1.1", "0.2"]);
  assert.equal(interleaved([flat(step(2)), flat(step(4))]).known, false);
});

test("verdicts that disagree within a group are told", () => {
  assert.equal(agreement(["false", "false"]), "all false");
  assert.equal(agreement(["false", "true", "open", "false"]), "2 false, 1 true");
  assert.equal(agreement(["open", "false"]), "");
});

test("edits become a patch; what overlaps an earlier one is left out", () => {
  const change = (first: number, old: string[], now: string[]) => ({ description: "", changes: [{ file: "f.c", first, old, new: now }] });
  const { text, left } = patchOf([change(9, ["d"], ["D"]), change(2, ["a"], ["A", "B"]), change(2, ["a"], ["C"])]);
  assert.equal(text, "--- a/f.c\n+++ b/f.c\n@@ -2 +2,2 @@\n-a\n+A\n+B\n@@ -9 +10 @@\n-d\n+D\n");
  assert.equal(left, 1);
  for (const file of ["../x.c", "/etc/passwd", "a\n+++ b/x", "C:\\x.c", ""]) assert.deepEqual(patchOf([{ description: "", changes: [{ file, first: 1, old: ["a"], new: ["b"] }] }]), { text: "", left: 1 }, file);
});
