// Two paths compared: which steps are the same, where they part for the first time, and what differs after that.

import { ordinalOf, threadsOf } from "./describe.ts";
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
  /** Steps that both take, but not at the same time: they stand in no pair. */
  readonly moves: readonly Pair[];
  readonly differences: readonly Difference[];
  /** How many steps are alike at the start. */
  readonly alike: number;
  /** The first steps that are not the same; undefined where a path has no more. */
  readonly parting: { readonly a: number | undefined; readonly b: number | undefined } | undefined;
  /** What each side does there, where that is told by threads. */
  readonly clauses?: readonly [string, string];
  readonly sentence: string;
}

interface Place { readonly fn: string; readonly file: string; readonly line: number | undefined; readonly thread: string; readonly key: string }

function placesOf(path: Path, page: Page, threads: readonly string[]): Place[] {
  const homes = framesOf(path);
  return path.steps.map((step, index) => {
    const frame = path.frames[homes.get(index) ?? -1], file = page.files[step.f ?? frame?.file ?? -1]?.name ?? "";
    return { fn: frame?.fn ?? "", file, line: step.l, thread: threads[index] ?? "", key: `${threads[index] ?? ""}\n${frame?.fn ?? ""}\n${file}\n${step.l ?? step.m ?? ""}` };
  });
}

/** Threads by name where both paths know the same ones; otherwise by the function that each begins with. */
function comparable(a: Path, b: Path): readonly [readonly string[], readonly string[]] {
  const [left, right] = [threadsOf(a), threadsOf(b)], [known, other] = [new Set(left), new Set(right)];
  if (known.size === other.size && [...known].every(name => other.has(name))) return [left, right];
  const begins = (path: Path) => new Map(path.frames.flatMap(frame => (frame.thread ? [[frame.thread, frame.fn] as const] : [])).reverse());
  const [first, second] = [begins(a), begins(b)];
  return [left.map(name => first.get(name) ?? ""), right.map(name => second.get(name) ?? "")];
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
  const [threadsA, threadsB] = comparable(a, b), left = placesOf(a, page, threadsA), right = placesOf(b, page, threadsB);
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
  // What stands in no pair but on both sides has changed its place in the order.
  const moves = movesOf(pairs, left.map(place => place.key), right.map(place => place.key));
  for (const move of moves) if (!a.steps[move.a]?.p) differences.push({ kind: "order", a: [move.a, move.a], b: [move.b, move.b], text: `Order, ${say(left[move.a])}` });
  // So have neighbours whose numbers over all threads stand the other way round.
  for (let at = 1; at < pairs.length; at++) {
    const [p, q] = [pairs[at - 1]!, pairs[at]!];
    const [pa, qa, pb, qb] = [a.steps[p.a]!.o, a.steps[q.a]!.o, b.steps[p.b]!.o, b.steps[q.b]!.o];
    if (pa !== undefined && qa !== undefined && pb !== undefined && qb !== undefined && pa < qa !== pb < qb) differences.push({ kind: "order", a: [q.a, q.a], b: [q.b, q.b], text: `Order, ${say(left[q.a])}` });
  }
  const passed = (side: "a" | "b", step: number | undefined) => (step === undefined ? Infinity : pairsBefore(pairs, side, step));
  const where = (one: Difference) => (one.kind === "order" ? Math.min(passed("a", one.a?.[0]), passed("b", one.b?.[0])) : one.kind === "only-b" ? passed("b", one.b?.[0]) : passed("a", one.a?.[0]));
  const places = new Map(differences.map(one => [one, where(one)]));
  differences.sort((one, other) => places.get(one)! - places.get(other)! || Number(other.kind === "order") - Number(one.kind === "order") || (one.a?.[0] ?? 0) - (other.a?.[0] ?? 0) || (one.b?.[0] ?? 0) - (other.b?.[0] ?? 0));
  let alike = 0;
  while (pairs[alike]?.a === alike && pairs[alike]?.b === alike) alike++;
  const flow = differences.find(one => one.kind !== "value" && one.kind !== "order");
  const parting = alike < a.steps.length || alike < b.steps.length ? { a: alike < a.steps.length ? alike : undefined, b: alike < b.steps.length ? alike : undefined } : undefined;
  // A condition that goes the other way is where they part, though its line is the same.
  const outcome = flow?.kind === "outcome" && (flow.a?.[0] ?? Infinity) < alike ? flow.a?.[0] : undefined;
  const turning = outcome ?? alike;
  const threads = switched(threadsOf(a), threadsOf(b), turning);
  return {
    pairs, moves, differences, alike: turning, parting: outcome === undefined ? parting : { a: outcome, b: flow?.b?.[0] }, ...(outcome === undefined && threads && { clauses: threads.clauses }),
    sentence: sentence(a, b, left, right, turning, pairs.length, say, outcome === undefined ? threads?.words : undefined),
  };
}

/** Pairs of equals among what stands in no pair, each used once. */
function movesOf(pairs: readonly Pair[], a: readonly string[], b: readonly string[]): Pair[] {
  const [pairedA, pairedB] = [new Set(pairs.map(pair => pair.a)), new Set(pairs.map(pair => pair.b))], waiting = new Map<string, number[]>();
  b.forEach((key, at) => { if (!pairedB.has(at)) { const known = waiting.get(key); if (known) known.push(at); else waiting.set(key, [at]); } });
  return a.flatMap((key, at) => { const to = pairedA.has(at) ? undefined : waiting.get(key)?.shift(); return to === undefined ? [] : [{ a: at, b: to }]; });
}

/** How many pairs stand before a step. */
export function pairsBefore(pairs: readonly Pair[], side: "a" | "b", step: number): number {
  let low = 0, high = pairs.length;
  while (low < high) { const middle = (low + high) >> 1; if (pairs[middle]![side] < step) low = middle + 1; else high = middle; }
  return low;
}

/** What happens at the turning point, where one side goes on in another thread. */
function switched(a: readonly string[], b: readonly string[], at: number): { readonly clauses: readonly [string, string]; readonly words: string } | undefined {
  const before = at > 0 ? a[at - 1] : undefined, one = a[at], other = b[at];
  if (!before || one === undefined || other === undefined || one === other || !one || !other) return undefined;
  const clause = (to: string) => (to === before ? `stays in ${to}` : `switches to ${to}`);
  const words = other === before ? `Then A lets ${one} run; B stays in ${other}.` : one === before ? `Then B lets ${other} run; A stays in ${one}.` : `Then A goes on in ${one}, B in ${other}.`;
  return { clauses: [clause(one), clause(other)], words };
}

/** Why one side has nothing beside steps of the other: those are its own, or it takes them at another time. */
export function missing(comparison: Comparison, a: Path, b: Path, side: "a" | "b", from: number, to: number): string {
  const [own, theirs] = side === "a" ? [a, b] as const : [b, a] as const, letter = side === "a" ? "B" : "A";
  const steps: number[] = [], other = side === "a" ? "b" : "a";
  const paired = (step: number) => comparison.pairs[pairsBefore(comparison.pairs, other, step)]?.[other] === step;
  for (let step = from; step <= to; step++) if (theirs.steps[step] && !theirs.steps[step]!.p && !paired(step)) steps.push(step);
  if (steps.length === 0) return "";
  const moved = comparison.moves.find(move => steps.includes(move[other]));
  if (moved && steps.length === 1) {
    const here = pairsBefore(comparison.pairs, other, moved[other]), there = pairsBefore(comparison.pairs, side, moved[side]);
    return `no such step: ${there <= here ? "it came first" : "it comes later"}, step ${ordinalOf(own, moved[side])}`;
  }
  const [first, last] = [ordinalOf(theirs, steps[0]!), ordinalOf(theirs, steps[steps.length - 1]!)];
  return `only in ${letter}, ${first === last ? `step ${first}` : `steps ${first} to ${last}`}`;
}

function sentence(a: Path, b: Path, left: readonly Place[], right: readonly Place[], alike: number, common: number, say: (place: Place | undefined) => string, threads: string | undefined): string {
  if (common === 0) return "The two paths have no step in common.";
  if (alike >= a.steps.length && alike >= b.steps.length) return "The two paths take the same steps.";
  const start = alike === 0 ? "They part at once." : `Alike for ${ordinalOf(a, alike - 1)} ${ordinalOf(a, alike - 1) === 1 ? "step" : "steps"}.`;
  if (threads) return `${start} ${threads}`;
  const one = a.steps[alike], other = b.steps[alike];
  if (one && other && one.t !== undefined && other.t !== undefined && one.t !== other.t && left[alike]?.key === right[alike]?.key) {
    return `${start} Then the condition at ${say(left[alike])} ${one.t ? "holds in A and not in B" : "holds in B and not in A"}.`;
  }
  const goes = (place: Place | undefined, letter: string) => (place ? `${letter} goes to ${say(place)}` : `${letter} ends`);
  return `${start} Then ${goes(left[alike], "A")}; ${goes(right[alike], "B")}.`;
}
