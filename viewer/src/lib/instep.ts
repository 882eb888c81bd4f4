// Keeping two columns in step: room above rows, so that steps that are the same stand on the same height.

import type { Comparison, Pair } from "./compare.ts";
import { remeasure, topOf, type Layout, type Place } from "./layout.ts";
import type { Definition } from "./page.ts";

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

/** The last common pair, where a side parts on the very line that is still common: the bar cannot stand below it. */
function sharedRow(a: Layout, b: Layout, { pairs, parting, alike }: Comparison): Pair | undefined {
  const before = pairs[alike - 1];
  if (!before || !parting || pairs.some(pair => pair.a === parting.a && pair.b === parting.b)) return undefined;
  const same = (layout: Layout, one: number, other: number | undefined) => {
    const [here, there] = [layout.places[one], other === undefined ? undefined : layout.places[other]];
    return here !== undefined && here.node === there?.node && here.row === there.row;
  };
  return same(a, before.a, parting.a) || same(b, before.b, parting.b) ? before : undefined;
}

/** The steps that the bar stands above. */
export const partingRow = (a: Layout, b: Layout, comparison: Comparison): Comparison["parting"] => sharedRow(a, b, comparison) ?? comparison.parting;

/** The row below a place, in its box or in one around it. */
function under({ node, row }: Place): Place | undefined {
  if (row + 1 < node.rows.length) return { node, row: row + 1 };
  const { parent } = node;
  return parent && under({ node: parent, row: parent.rows.findIndex(one => one.kind === "frame" && one.node === node) });
}

/** Why a side has nothing beside some steps of the other. */
export type Missing = (side: "a" | "b", from: number, to: number) => string;

/** Adds room to both layouts; gives the height of the bar, if there is one. */
export function keepInStep(a: Layout, b: Layout, comparison: Comparison, definitions: readonly Definition[], missing: Missing = () => ""): number | undefined {
  const { pairs } = comparison, parting = partingRow(a, b, comparison);
  const shift = { a: 0, b: 0 };
  let before: Pair | undefined;
  const meet = (one: Place, other: Place, extra: number, upto?: Pair) => {
    const delta = topOf(other) + shift.b - (topOf(one) + shift.a);
    const padA = Math.max(delta, 0) + extra, padB = Math.max(-delta, 0) + extra;
    if (padA) one.node.pads.set(one.row, (one.node.pads.get(one.row) ?? 0) + padA);
    if (padB) other.node.pads.set(other.row, (other.node.pads.get(other.row) ?? 0) + padB);
    shift.a += padA;
    shift.b += padB;
    if (!upto) return;
    if (padA) one.node.reasons.set(one.row, missing("a", (before?.b ?? -1) + 1, upto.b - 1));
    if (padB) other.node.reasons.set(other.row, missing("b", (before?.a ?? -1) + 1, upto.a - 1));
  };
  // A condition that goes both ways is on both sides; otherwise each side has a row of its own.
  const turning = parting !== undefined && pairs.some(pair => pair.a === parting.a && pair.b === parting.b);
  let parted = parting === undefined, bar: number | undefined, last: { readonly one: Place; readonly other: Place } | undefined;
  const part = () => {
    parted = true;
    const below = (layout: Layout, step: number | undefined, before: Place | undefined) => (turning && step !== undefined ? placeOf(layout, step) : firstBelow(layout, step, before));
    // A path that ends here may still have lines to show: the end of its function.
    const one = below(a, parting?.a, last?.one) ?? (last && under(last.one)), other = below(b, parting?.b, last?.other) ?? (last && under(last.other));
    for (const place of [one, other]) if (place) place.node.parting = place.row;
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
    if (from !== here && to !== there) meet(from, to, 0, pair);
    meet(here, there, 0, pair);
    last = { one: here, other: there };
    before = pair;
  }
  if (!parted) part();
  a.height = remeasure(a, definitions);
  b.height = remeasure(b, definitions);
  return bar;
}
