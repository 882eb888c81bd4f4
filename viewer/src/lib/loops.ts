// Loops of a path: stretches of a function that repeat, line for line, become one iteration and a count.

import type { Path } from "./page.ts";
import { sign } from "./values.ts";

export interface Pass {
  readonly items: number[];
  readonly lines: number[];
  /** The loop whose last iteration this shows, or which begins here when it is opened. */
  loop?: Loop;
}

export interface Loop {
  /** Names the loop within its frame, for what the user opens. */
  readonly key: string;
  readonly count: number;
  /** Whether its iterations are listed under its head. */
  readonly open: boolean;
  /** The iteration that is drawn, from zero, or all of them. */
  readonly shown: number | "all";
  /** The line it goes back to. */
  readonly head: number;
  /** The items of each iteration. */
  readonly iterations: readonly (readonly number[])[];
}

/** Which iteration of which loop has to be drawn for an item to be seen. */
export interface Covered { readonly loop: string; readonly iteration: number }
/** What the user has opened: a loop's key, and the iteration to draw or all of them. */
export type OpenLoops = ReadonlyMap<string, number | "all">;

export interface Folded {
  readonly passes: Pass[];
  readonly hidden: ReadonlyMap<number, Covered>;
  /** For an item that is not drawn, the one that stands in its place. */
  readonly shownBy: readonly (readonly [number, number])[];
}

/** What a stretch of items does: its lines, and the functions it calls. */
const signature = (path: Path, items: readonly number[], lineOf: (item: number) => number | undefined): string =>
  items.map(item => (item < 0 ? `f${path.frames[-1 - item]?.fn ?? ""}` : String(lineOf(item) ?? "?"))).join(" ");

/**
 * Folds repeated passes of a frame: of a run of equal ones only one stays, joined to what comes before the loop. The
 * first iteration is part of the pass that leads there, so its tail counts too.
 */
export function foldLoops(path: Path, frame: number, passes: readonly Pass[], lineOf: (item: number) => number | undefined, opened: OpenLoops): Folded {
  const out: Pass[] = [], hidden = new Map<number, Covered>(), shownBy: [number, number][] = [];
  const signs = passes.map(pass => signature(path, pass.items, lineOf));
  let at = 0;
  while (at < passes.length) {
    const pass = passes[at]!;
    let end = at;
    while (at > 0 && end + 1 < passes.length && signs[end + 1] === signs[at]) end++;
    const before = out[out.length - 1];
    const size = pass.items.length;
    // The iteration before the first jump back stands at the end of the pass before.
    const tail = at > 0 && before && size > 0 && before.loop === undefined ? before.items.slice(-size) : [];
    const first = tail.length === size && signature(path, tail, lineOf) === signs[at];
    // The last iteration may go on to where the path leads: a call, or the end.
    const further = passes[end + 1];
    if (at > 0 && further && end - at + 1 + (first ? 1 : 0) > 1 && signs[end + 1]!.startsWith(`${signs[at]} `)) end++;
    const iterations = [...(first ? [tail] : []), ...passes.slice(at, end + 1).map(one => one.items.slice(0, size))], count = iterations.length;
    if (at === 0 || count < 2 || size === 0) { out.push({ ...pass }); at++; continue; }
    const key = `${frame}.${pass.items[0] ?? 0}`, asked = opened.get(key), head = pass.lines[0] ?? 0;
    const shown = asked === "all" ? asked : Math.min(asked ?? count - 1, count - 1);
    const loop: Loop = { key, count, open: asked !== undefined, shown, head, iterations };
    if (shown === "all") {
      if (first && before) out[out.length - 1] = { ...before, loop };
      passes.slice(at, end + 1).forEach((one, index) => out.push(index === 0 && !first ? { ...one, loop } : { ...one }));
    } else {
      const chosen = iterations[shown]!;
      iterations.forEach((items, iteration) => {
        if (iteration === shown) return;
        items.forEach((item, index) => {
          const drawn = chosen[index] ?? -1;
          hidden.set(item, { loop: key, iteration });
          if (item >= 0 && drawn >= 0) shownBy.push([item, drawn]);
        });
      });
      // Whichever iteration is drawn, the path goes on from the last one.
      const last = passes[end]!, items = [...chosen, ...last.items.slice(size)], lines = [...pass.lines, ...last.lines.slice(pass.lines.length)];
      if (first && before) out[out.length - 1] = { items: [...before.items.slice(0, -size), ...items], lines: [...before.lines.slice(0, before.lines.length - pass.lines.length), ...lines], loop };
      else out.push({ items, lines, loop });
    }
    at = end + 1;
  }
  return { passes: out, hidden, shownBy };
}

/** What tells iterations apart: for each of `which`, the values that are not the same in all of them, two at most. */
export function iterationLabels(path: Path, loop: Loop, which: readonly number[]): string[] {
  const told = which.map(iteration => {
    const values = new Map<string, string>();
    for (const item of loop.iterations[iteration] ?? []) for (const [name, value] of (item < 0 ? undefined : path.steps[item])?.v ?? []) values.set(name, value);
    return values;
  });
  const names = [...new Set(told.flatMap(values => [...values.keys()]))].filter(name => new Set(told.map(values => values.get(name))).size > 1).slice(0, 2);
  return told.map(values => names.flatMap(name => (values.has(name) ? [`${name}${sign(values.get(name) ?? "")}${values.get(name)}`] : [])).join(", "));
}

/** The iterations that are offered: all of a few; of many the first, the last, and those around the one that is drawn. */
export function offered(loop: Loop, most = 12): number[] {
  if (loop.count <= most) return Array.from({ length: loop.count }, (_, at) => at);
  const around = loop.shown === "all" ? loop.count - 1 : loop.shown;
  return [...new Set([0, 1, 2, around - 1, around, around + 1, loop.count - 3, loop.count - 2, loop.count - 1])].filter(at => at >= 0 && at < loop.count).sort((a, b) => a - b);
}
