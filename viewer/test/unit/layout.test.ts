import assert from "node:assert/strict";
import test from "node:test";
import { BODY, rowHeight, rowsBetween, rowsOf, topOf, SIZE } from "../../src/lib/layout.ts";
import { file, layout, path, step, told } from "./fixture.ts";

const shape = (...args: Parameters<typeof layout>) => layout(...args).roots.map(told).join(" | ");

test("around a step stay head, end, enclosing blocks and guards; the rest is folded", () => {
  assert.equal(shape(path([{ items: [0] }], [step(6)])), "1 (2-3) 4 5 6:0 (7-7) 8 (9-10) 11");
});

test("blank lines alone make no fold", () => {
  assert.equal(shape(path([{ items: [0, 1] }], [step(2), step(4)])), "1 2:0 4:1 (5-7) 8 (9-10) 11");
});

test("opened lines stay, grey", () => {
  assert.equal(shape(path([{ items: [0] }], [step(6)]), { open: [[0, [9, 10]]] }), "1 (2-3) 4 5 6:0 (7-7) 8 [9-10] 9~ 10~ 11");
});

test("a callee stands under its call, and the caller goes on after it", () => {
  const nested = path([{ items: [0, -2, 1] }, { items: [2] }], [step(6, { r: "call" }), step(10), step(2)]);
  assert.equal(shape(nested), "1 (2-3) 4 5 6:0 {1 2:2 (3-10) 11} (7-7) 8 (9-9) 10:1 11");
});

test("coming back to the line of a call shows the line again", () => {
  const returning = path([{ items: [0, -2, 1] }, { items: [] }], [step(6, { r: "call" }), step(6, { r: "return" })]);
  assert.equal(shape(returning), "1 (2-3) 4 5 6:0 {1 (2-10) 11} 6:1 (7-7) 8 (9-10) 11");
});

test("several steps on one line share it", () => {
  assert.equal(shape(path([{ items: [0, 1, 2] }], [step(4), step(4), step(9)])), "1 (2-3) 4:0+1 (5-7) 8 9:2 (10-10) 11");
});

test("a loop reads on downwards: every time back up begins another pass", () => {
  const loop = path([{ items: [0, 1, 2, 3, 4] }], [step(4), step(6), step(4), step(6), step(9)]);
  assert.equal(shape(loop), "1 (2-3) 4:0 5 6:1 ^4 4:2 5 6:3 (7-7) 8 9:4 (10-10) 11");
});

test("matches become relevant with the blocks around them", () => {
  assert.equal(shape(path([{ items: [0] }], [step(2)]), { terms: ["g(b"] }), "1 2:0 4 5 6 (7-7) 8 (9-10) 11");
  assert.equal(shape(path([{ items: [0] }], [step(2)]), { terms: ["/lo[g]/", "return"] }), "1 2:0 (3-8) 9 10 11");
});

test("steps without a line that can be shown are told in words", () => {
  assert.equal(shape(path([{ items: [0, 1, 2] }], [step(undefined), step(999), step(2, { f: 7 })])), "?0 ?1 ?2 1 (2-10) 11");
  assert.equal(shape({ ...path([{ items: [0] }], [step(5)]), frames: [{ fn: "gone", items: [0] }] }), "?0");
});

test("a definition opens under its row", () => {
  assert.equal(shape(path([{ items: [0] }], [step(6)]), { definitions: [["0.0.6", 0]] }), "1 (2-3) 4 5 6:0 def (7-7) 8 (9-10) 11");
  assert.equal(shape(path([{ items: [0] }], [step(6)]), { definitions: [["0.0.4", 0]] }), "1 (2-3) 4 def 5 6:0 (7-7) 8 (9-10) 11");
});

test("counts say how much is on screen", () => {
  const { shown, total } = layout(path([{ items: [0, -2] }, { items: [1] }], [step(6), step(2)]));
  assert.deepEqual([shown, total], [6 + 3, 22]);
});

/** Deterministic numbers: a failing layout can be made again. */
function* numbers(seed: number): Generator<number, never> {
  for (;;) { seed = (seed * 1664525 + 1013904223) >>> 0; yield seed / 2 ** 32; }
}

test("whatever the path, every step has a place, rows are in order and heights add up", () => {
  const random = numbers(42), next = (below: number) => Math.floor((random.next().value as number) * below);
  for (let round = 0; round < 300; round++) {
    const frames: { items: number[] }[] = [{ items: [] }], steps: ReturnType<typeof step>[] = [];
    let stack = [0];
    for (let count = next(40); count > 0; count--) {
      const here = frames[stack[stack.length - 1] ?? 0]!;
      const what = next(6);
      if (what === 0 && stack.length > 1) stack = stack.slice(0, -1);
      else if (what === 1 && stack.length < 6) { here.items.push(-1 - frames.length); stack.push(frames.length); frames.push({ items: [] }); }
      else { here.items.push(steps.length); steps.push(step(next(13))); }
    }
    const { roots, places, height } = layout(path(frames, steps), { terms: next(2) ? ["b"] : [], open: [[0, [2, 7]]] });
    const seen: number[] = [];
    let before = -1;
    for (const place of rowsOf(roots)) {
      const row = place.node.rows[place.row]!;
      const top = topOf(place);
      assert.ok(top >= before, "rows go down the page");
      before = top;
      if (row.kind === "line") { assert.ok(row.number >= 1 && row.number <= 11); seen.push(...row.steps); }
      if (row.kind === "note") seen.push(row.step);
    }
    assert.deepEqual([...seen].sort((a, b) => a - b), steps.map((_, at) => at), "every step stands there once");
    assert.deepEqual(seen, [...seen].sort((a, b) => a - b), "and in the order of the path");
    places.forEach((place, at) => {
      const row = place!.node.rows[place!.row]!;
      assert.ok(row.kind === "note" ? row.step === at : row.kind === "line" && row.steps.includes(at));
    });
    assert.equal(height, SIZE.paper + roots.reduce((sum, root) => sum + root.height + SIZE.rootGap, 0));
    for (const root of roots) assert.equal(root.height, BODY + root.rows.reduce((sum, row) => sum + rowHeight(row, []), 0) + SIZE.padding + SIZE.border);
  }
});

test("a window finds exactly the rows that reach into it", () => {
  const long = path([{ items: Array.from({ length: 500 }, (_, at) => at) }], Array.from({ length: 500 }, (_, at) => step(at % 2 ? 6 : 4)));
  const [root] = layout(long, { loops: [["0.2", "all"]] }).roots;
  for (const from of [0, 333, 4_000, 9_999]) {
    const [first, last] = rowsBetween(root!, from, from + 500, 1);
    const reach = root!.rows.flatMap((_, at) => {
      const top = root!.top + BODY + root!.tops[at]!;
      return root!.tops[at + 1]! + root!.top + BODY > from && top <= from + 500 ? [at] : [];
    });
    assert.deepEqual([first, last], [reach[0] ?? 0, (reach[reach.length - 1] ?? -1) + 1]);
  }
  assert.deepEqual(rowsBetween(root!, root!.height + 10_000, root!.height + 10_500), [0, 0]);
});

test("ten thousand steps are laid out in a moment", () => {
  const steps = Array.from({ length: 10_000 }, (_, at) => step([4, 5, 6][at % 3]!));
  const begun = process.cpuUsage();
  const { places } = layout(path([{ items: steps.map((_, at) => at) }], steps), { terms: ["g(", "b"], data: file(), loops: [["0.3", "all"]] });
  assert.equal(places.filter(Boolean).length, 10_000);
  const { user } = process.cpuUsage(begun);
  assert.ok(user < 1_500_000, `took ${user / 1000} ms of computing`);
});
