// Comparing, loops, values, groups, help texts and addresses: the pure side of them.

import assert from "node:assert/strict";
import test from "node:test";
import { parseAddress, writeAddress } from "../../src/lib/address.ts";
import { align, compare } from "../../src/lib/compare.ts";
import { familiesOf, plainTitle } from "../../src/lib/groups.ts";
import { keepInStep, reduced } from "../../src/lib/instep.ts";
import { topOf, type Layout } from "../../src/lib/layout.ts";
import { rowsFor } from "../../src/lib/list.ts";
import { blocksOf, spansOf } from "../../src/lib/markdown.ts";
import type { Page, Path, Report, Step } from "../../src/lib/page.ts";
import { shapeOf } from "../../src/lib/shapes.ts";
import { sourcesOf } from "../../src/lib/source.ts";
import { originOf, valuesOf } from "../../src/lib/values.ts";
import { file, layout, path, step, told } from "./fixture.ts";

const page = (reports: readonly Report[] = []): Page => ({ format: "parallax-page/1", name: "p", made: 0, author: "", files: [file()], definitions: [], reports, checklists: [], triage: { format: "parallax-triage/1", records: {} }, notes: [] });
const flat = (...steps: readonly Step[]): Path => path([{ items: steps.map((_, at) => at) }], steps);

test("iterations that repeat become one and a count", () => {
  const loop = flat(step(2), step(4), step(6), step(4), step(6), step(4), step(6), step(9));
  const plain = layout(loop);
  assert.equal(told(plain.roots[0]!), "1 2:0 4:5*3 5 6:6 (7-7) 8 9:7 (10-10) 11", "the last one, which goes on, is the one that is shown");
  assert.deepEqual([...plain.hidden].sort((a, b) => a - b), [1, 2, 3, 4]);
  const five = flat(...[4, 6, 4, 6, 4, 6, 4, 6, 4, 6].map(line => step(line)));
  assert.match(told(layout(five).roots[0]!), /4:8\*5 5 6:9/, "all five are one");
  assert.equal(layout(five).hidden.size, 8);
  assert.equal(layout(five, { loops: ["0.2"] }).hidden.size, 0, "opened, each is there");
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
  assert.deepEqual(reduced(a, new Set([2])).frames[0]?.items, [2]);
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
  for (let round = 0; round < 400; round++) {
    const a = wander(), b = roll(3) === 0 ? a : wander(), found = compare(a, b, page());
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
    if (bar !== undefined && found.pairs.length) for (const pair of found.pairs) if (pair.a < (found.parting?.a ?? Infinity) && pair.b < (found.parting?.b ?? Infinity)) {
      const one = at(left, pair.a);
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
  assert.deepEqual(blocksOf("# T\n\ntext\n- one\n```\nx <b>\n```").map(block => block.kind), ["heading", "words", "item", "code"]);
});

test("addresses name what they open", () => {
  for (const written of ["#list", "#R-04", "#R-04/2/7", "#R-01/1:R-02/3"]) assert.equal(writeAddress(parseAddress(written.slice(1))!), written);
  assert.deepEqual(parseAddress("R-04/x/-1"), { kind: "report", report: "R-04" });
  assert.equal(parseAddress(""), undefined);
});
