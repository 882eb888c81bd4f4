// Loops of a path: stretches of a function that repeat, line for line, become one iteration and a count.

import type { Path } from "./page.ts";

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
  readonly open: boolean;
  /** The line it goes back to. */
  readonly head: number;
}

/** What a stretch of items does: its lines, and the functions it calls. */
const signature = (path: Path, items: readonly number[], lineOf: (item: number) => number | undefined): string =>
  items.map(item => (item < 0 ? `f${path.frames[-1 - item]?.fn ?? ""}` : String(lineOf(item) ?? "?"))).join(" ");

/**
 * Folds repeated passes of a frame: of a run of equal ones only the last stays, joined to what comes before the loop. The
 * first iteration is part of the pass that leads there, so its tail counts too.
 */
export function foldLoops(path: Path, frame: number, passes: readonly Pass[], lineOf: (item: number) => number | undefined, opened: ReadonlySet<string>): { passes: Pass[]; hidden: number[]; shownBy: [number, number][] } {
  const out: Pass[] = [], hidden: number[] = [], shownBy: [number, number][] = [];
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
    const count = end - at + 1 + (first ? 1 : 0);
    if (at === 0 || count < 2 || size === 0) { out.push({ ...pass }); at++; continue; }
    const key = `${frame}.${pass.items[0] ?? 0}`, open = opened.has(key), head = pass.lines[0] ?? 0;
    const loop: Loop = { key, count, open, head };
    if (open) {
      passes.slice(at, end + 1).forEach((one, index) => out.push(index === 0 ? { ...one, loop } : { ...one }));
    } else {
      const last = passes[end]!;
      const hide = (items: readonly number[]) => items.forEach((item, index) => { const shown = last.items[index] ?? -1; hidden.push(item); if (item >= 0 && shown >= 0) shownBy.push([item, shown]); });
      for (const one of passes.slice(at, end)) hide(one.items);
      if (first && before) {
        hide(tail);
        const lines = before.lines.slice(0, before.lines.length - pass.lines.length);
        out[out.length - 1] = { items: [...before.items.slice(0, -size), ...last.items], lines: [...lines, ...last.lines], loop };
      } else out.push({ items: [...last.items], lines: [...last.lines], loop });
    }
    at = end + 1;
  }
  return { passes: out, hidden, shownBy };
}
