// Two paths compared: which steps are the same, where they part for the first time, and what differs after that.

import { ordinalOf } from "./describe.ts";
import type { Page, Path } from "./page.ts";
import { framesOf } from "./values.ts";

export interface Pair { readonly a: number; readonly b: number }
export interface Difference {
  readonly kind: "only-a" | "only-b" | "value" | "outcome" | "order";
  /** The steps, from the first to the last of a stretch. */
  readonly a?: readonly [number, number];
  readonly b?: readonly [number, number];
  readonly text: string;
}
export interface Comparison {
  readonly pairs: readonly Pair[];
  readonly differences: readonly Difference[];
  /** How many steps are alike at the start. */
  readonly alike: number;
  /** The first steps that are not the same; undefined where a path has no more. */
  readonly parting: { readonly a: number | undefined; readonly b: number | undefined } | undefined;
  readonly sentence: string;
}

interface Place { readonly fn: string; readonly file: string; readonly line: number | undefined; readonly key: string }

function placesOf(path: Path, page: Page): Place[] {
  const homes = framesOf(path);
  return path.steps.map((step, index) => {
    const frame = path.frames[homes.get(index) ?? -1], file = page.files[step.f ?? frame?.file ?? -1]?.name ?? "";
    return { fn: frame?.fn ?? "", file, line: step.l, key: `${frame?.fn ?? ""}\n${file}\n${step.l ?? step.m ?? ""}` };
  });
}

/** Longest common subsequences are found exactly up to so many pairs of steps, and greedily beyond. */
const EXACT = 4_000_000;

export function align(a: readonly string[], b: readonly string[]): Pair[] {
  const pairs: Pair[] = [];
  let from = 0, endA = a.length, endB = b.length;
  while (from < endA && from < endB && a[from] === b[from]) { pairs.push({ a: from, b: from }); from++; }
  const tail: Pair[] = [];
  while (endA > from && endB > from && a[endA - 1] === b[endB - 1]) tail.push({ a: --endA, b: --endB });
  const n = endA - from, m = endB - from;
  if (n > 0 && m > 0) {
    if (n * m <= EXACT) {
      const width = m + 1, best = new Uint16Array((n + 1) * width);
      for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) {
        best[i * width + j] = a[from + i] === b[from + j] ? best[(i + 1) * width + j + 1]! + 1 : Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!);
      }
      for (let i = 0, j = 0; i < n && j < m;) {
        if (a[from + i] === b[from + j]) { pairs.push({ a: from + i, b: from + j }); i++; j++; }
        else if (best[(i + 1) * width + j]! >= best[i * width + j + 1]!) i++; else j++;
      }
    } else {
      const places = new Map<string, number[]>();
      for (let j = from; j < endB; j++) { const key = b[j]!, known = places.get(key); if (known) known.push(j); else places.set(key, [j]); }
      let next = from;
      for (let i = from; i < endA; i++) {
        const at = places.get(a[i]!)?.find(j => j >= next);
        if (at !== undefined && at - next < 2_000) { pairs.push({ a: i, b: at }); next = at + 1; }
      }
    }
  }
  return [...pairs, ...tail.reverse()];
}

export function compare(a: Path, b: Path, page: Page): Comparison {
  const left = placesOf(a, page), right = placesOf(b, page);
  const pairs = align(left.map(place => place.key), right.map(place => place.key));
  const differences: Difference[] = [];
  const say = (place: Place | undefined) => (place ? `${place.file.split("/").pop() ?? ""}${place.line === undefined ? "" : `:${place.line}`}` : "");
  let i = 0, j = 0;
  const alone = (toA: number, toB: number) => {
    if (toA > i) differences.push({ kind: "only-a", a: [i, toA - 1], ...(j < b.steps.length && { b: [j, j] as const }), text: `only A, ${say(left[i])}` });
    if (toB > j) differences.push({ kind: "only-b", b: [j, toB - 1], ...(i < a.steps.length && { a: [i, i] as const }), text: `only B, ${say(right[j])}` });
  };
  for (const pair of pairs) {
    alone(pair.a, pair.b);
    const one = a.steps[pair.a]!, other = b.steps[pair.b]!;
    if (one.t !== undefined && other.t !== undefined && one.t !== other.t) differences.push({ kind: "outcome", a: [pair.a, pair.a], b: [pair.b, pair.b], text: `${one.t ? "taken" : "not taken"} in A, ${say(left[pair.a])}` });
    for (const [name, value] of one.v ?? []) {
      const twin = other.v?.find(([known]) => known === name)?.[1];
      if (twin !== undefined && twin !== value) differences.push({ kind: "value", a: [pair.a, pair.a], b: [pair.b, pair.b], text: name });
    }
    i = pair.a + 1;
    j = pair.b + 1;
  }
  alone(a.steps.length, b.steps.length);
  // The order over threads: pairs that stand the other way round.
  for (let at = 1; at < pairs.length; at++) {
    const [p, q] = [pairs[at - 1]!, pairs[at]!];
    const [pa, qa, pb, qb] = [a.steps[p.a]!.o, a.steps[q.a]!.o, b.steps[p.b]!.o, b.steps[q.b]!.o];
    if (pa !== undefined && qa !== undefined && pb !== undefined && qb !== undefined && pa < qa !== pb < qb) differences.push({ kind: "order", a: [q.a, q.a], b: [q.b, q.b], text: `order, ${say(left[q.a])}` });
  }
  differences.sort((one, other) => (one.a?.[0] ?? 0) - (other.a?.[0] ?? 0) || (one.b?.[0] ?? 0) - (other.b?.[0] ?? 0));
  let alike = 0;
  while (pairs[alike]?.a === alike && pairs[alike]?.b === alike) alike++;
  const flow = differences.find(one => one.kind !== "value");
  const parting = alike < a.steps.length || alike < b.steps.length ? { a: alike < a.steps.length ? alike : undefined, b: alike < b.steps.length ? alike : undefined } : undefined;
  // A condition that goes the other way is where they part, though its line is the same.
  const outcome = flow?.kind === "outcome" && (flow.a?.[0] ?? Infinity) < alike ? flow.a?.[0] : undefined;
  const turning = outcome ?? alike;
  return { pairs, differences, alike: turning, parting: outcome === undefined ? parting : { a: outcome, b: flow?.b?.[0] }, sentence: sentence(a, b, left, right, turning, pairs.length, say) };
}

function sentence(a: Path, b: Path, left: readonly Place[], right: readonly Place[], alike: number, common: number, say: (place: Place | undefined) => string): string {
  if (common === 0) return "The two paths have no step in common.";
  if (alike >= a.steps.length && alike >= b.steps.length) return "The two paths take the same steps.";
  const start = alike === 0 ? "They part at once." : `Alike for ${ordinalOf(a, alike - 1)} ${ordinalOf(a, alike - 1) === 1 ? "step" : "steps"}.`;
  const one = a.steps[alike], other = b.steps[alike];
  if (one && other && one.t !== undefined && other.t !== undefined && one.t !== other.t && left[alike]?.key === right[alike]?.key) {
    return `${start} Then the condition at ${say(left[alike])} ${one.t ? "holds in A and not in B" : "holds in B and not in A"}.`;
  }
  const goes = (place: Place | undefined, letter: string) => (place ? `${letter} goes to ${say(place)}` : `${letter} ends`);
  return `${start} Then ${goes(left[alike], "A")}; ${goes(right[alike], "B")}.`;
}
