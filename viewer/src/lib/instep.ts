// Keeping two columns in step: room above rows, so that steps that are the same stand on the same height.

import type { Comparison } from "./compare.ts";
import { remeasure, topOf, type Layout } from "./layout.ts";
import type { Definition, Path } from "./page.ts";

/** Room for the bar that marks where the paths part. */
export const PARTING = 24;

/** Adds room to both layouts; gives the height of the bar, if there is one. */
export function keepInStep(a: Layout, b: Layout, { pairs, parting }: Comparison, definitions: readonly Definition[]): number | undefined {
  const shift = { a: 0, b: 0 };
  const meet = (left: number, right: number, extra: number) => {
    const one = a.places[left], other = b.places[right];
    if (!one || !other) return;
    const delta = topOf(other) + shift.b - (topOf(one) + shift.a);
    const padA = Math.max(delta, 0) + extra, padB = Math.max(-delta, 0) + extra;
    if (padA) one.node.pads.set(one.row, (one.node.pads.get(one.row) ?? 0) + padA);
    if (padB) other.node.pads.set(other.row, (other.node.pads.get(other.row) ?? 0) + padB);
    shift.a += padA;
    shift.b += padB;
  };
  let parted = parting === undefined, row: unknown;
  const part = () => { parted = true; if (parting?.a !== undefined && parting.b !== undefined) meet(parting.a, parting.b, PARTING); };
  for (const pair of pairs) {
    // Several steps on one line move once.
    const here = a.places[pair.a];
    const same = here !== undefined && row === here.node.rows[here.row];
    row = here?.node.rows[here.row];
    const after = (pair.a >= (parting?.a ?? Infinity) || pair.b >= (parting?.b ?? Infinity));
    if (!parted && after) {
      const turning = pair.a === parting?.a && pair.b === parting.b;
      if (turning) { parted = true; meet(pair.a, pair.b, PARTING); continue; }
      part();
    }
    if (!same) meet(pair.a, pair.b, 0);
  }
  if (!parted) part();
  a.height = remeasure(a, definitions);
  b.height = remeasure(b, definitions);
  const one = parting?.a === undefined ? undefined : a.places[parting.a], other = parting?.b === undefined ? undefined : b.places[parting.b];
  return one ? topOf(one) - PARTING / 2 : other ? topOf(other) - PARTING / 2 : undefined;
}

/** A path with only some of its steps, and the calls that lead to them. */
export function reduced(path: Path, keep: ReadonlySet<number>): Path {
  const frames = path.frames.map(frame => ({ ...frame, items: [] as number[] }));
  const visit = (index: number): boolean => {
    const items = path.frames[index]?.items ?? [], kept: number[] = [];
    items.forEach((item, at) => {
      if (item >= 0) { if (keep.has(item)) kept.push(item); return; }
      if (!visit(-1 - item)) return;
      const call = items[at - 1];
      if (call !== undefined && call >= 0 && !kept.includes(call)) kept.push(call);
      kept.push(item);
    });
    frames[index] = { ...path.frames[index]!, items: kept };
    return kept.length > 0;
  };
  return { ...path, frames, roots: path.roots.filter(visit) };
}
