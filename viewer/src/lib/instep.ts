// Keeping two columns in step: room above rows, so that steps that are the same stand on the same height.

import type { Comparison } from "./compare.ts";
import { remeasure, topOf, type Layout, type Place } from "./layout.ts";
import type { Definition, Path } from "./page.ts";

/** Room for the bar that marks where the paths part. */
export const PARTING = 24;

/** Where a box that is entered after `before` begins: the row of the outermost such box, or the place itself. */
function entrance(place: Place, before: Place | undefined): Place {
  const around = new Set<unknown>();
  for (let node = before?.node; node; node = node.parent) around.add(node);
  let at = place;
  while (at.node.parent && !around.has(at.node)) {
    const { parent } = at.node, row = parent.rows.findIndex(one => one.kind === "frame" && one.node === at.node);
    if (row < 0) break;
    at = { node: parent, row };
  }
  return at;
}

/** Where a step is shown, be it by another iteration of its loop. */
const placeOf = (layout: Layout, step: number): Place | undefined => layout.places[layout.shownBy.get(step) ?? step];

/** The first row of a step or one after it that stands below `before`. */
function firstBelow(layout: Layout, step: number | undefined, before: Place | undefined): Place | undefined {
  if (step === undefined) return undefined;
  for (let at = step; at < layout.places.length; at++) {
    const place = placeOf(layout, at);
    if (place && !(before && topOf(place) <= topOf(before))) return entrance(place, before);
  }
  return undefined;
}

/** Adds room to both layouts; gives the height of the bar, if there is one. */
export function keepInStep(a: Layout, b: Layout, { pairs, parting }: Comparison, definitions: readonly Definition[]): number | undefined {
  const shift = { a: 0, b: 0 };
  const meet = (one: Place, other: Place, extra: number) => {
    const delta = topOf(other) + shift.b - (topOf(one) + shift.a);
    const padA = Math.max(delta, 0) + extra, padB = Math.max(-delta, 0) + extra;
    if (padA) one.node.pads.set(one.row, (one.node.pads.get(one.row) ?? 0) + padA);
    if (padB) other.node.pads.set(other.row, (other.node.pads.get(other.row) ?? 0) + padB);
    shift.a += padA;
    shift.b += padB;
  };
  // A condition that goes both ways is on both sides; otherwise each side has a row of its own.
  const turning = parting !== undefined && pairs.some(pair => pair.a === parting.a && pair.b === parting.b);
  let parted = parting === undefined, bar: number | undefined, last: { readonly one: Place; readonly other: Place } | undefined;
  const part = () => {
    parted = true;
    const below = (layout: Layout, step: number | undefined, before: Place | undefined) => (turning && step !== undefined ? placeOf(layout, step) : firstBelow(layout, step, before));
    const one = below(a, parting?.a, last?.one), other = below(b, parting?.b, last?.other);
    if (one && other) meet(one, other, PARTING);
    else for (const [place, side] of [[one, "a"], [other, "b"]] as const) if (place) { place.node.pads.set(place.row, (place.node.pads.get(place.row) ?? 0) + PARTING); shift[side] += PARTING; }
    // Rows may move further down from here, the bar does not.
    bar = one ? topOf(one) + shift.a - PARTING / 2 : other && topOf(other) + shift.b - PARTING / 2;
  };
  for (const pair of pairs) {
    if (!parted && (pair.a >= (parting?.a ?? Infinity) || pair.b >= (parting?.b ?? Infinity))) part();
    const here = placeOf(a, pair.a), there = placeOf(b, pair.b);
    if (!here || !there) continue;
    // Several steps on one line move once, and so do the iterations of a loop that one row shows.
    if (last && (topOf(here) <= topOf(last.one) || topOf(there) <= topOf(last.other))) continue;
    // Boxes that are entered on both sides begin on the same height, so that no room is made inside them.
    const [from, to] = [entrance(here, last?.one), entrance(there, last?.other)];
    if (from !== here && to !== there) meet(from, to, 0);
    meet(here, there, 0);
    last = { one: here, other: there };
  }
  if (!parted) part();
  a.height = remeasure(a, definitions);
  b.height = remeasure(b, definitions);
  return bar;
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
