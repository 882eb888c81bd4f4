// A path as rows in nested boxes, with the place of every row: what is on the page before anything is drawn.
//
// A box shows its function from top to bottom. Where the path goes back up, as in a loop, the box goes on with
// another pass that starts at the line it goes back to, so that reading down the page is reading along the path.

import { foldLoops, type Covered, type Loop, type OpenLoops, type Pass } from "./loops.ts";
import type { Definition, Frame, Path } from "./page.ts";
import { matchesIn, type Match, type Query } from "./query.ts";
import type { Source } from "./source.ts";

/** Heights in CSS pixels; `style.css` has the same numbers. */
export const SIZE = {
  line: 20, fold: 14, head: 24, again: 18, iterations: 28, alike: 20,
  border: 1, padding: 2, marginTop: 2, marginBottom: 4, rootGap: 8, paper: 8,
} as const;

export interface LineRow {
  readonly kind: "line";
  readonly number: number;
  readonly relevant: boolean;
  /** Steps that happen here, in order; several when the tool says several things about one line. */
  readonly steps: number[];
  readonly matches: readonly Match[];
  /** Names the row across layouts, for what is open under it. */
  readonly key: string;
  /** The loop that this line is the head of, when it is told once for all iterations. */
  readonly loop?: Loop;
}
/** Lines left out, or left in and grey when `open`. */
export interface FoldRow { readonly kind: "fold"; readonly first: number; readonly last: number; readonly open: boolean; readonly blank: boolean }
export interface FrameRow { readonly kind: "frame"; readonly node: FrameNode }
/** The path goes back to an earlier line. */
export interface AgainRow { readonly kind: "again"; readonly to: number }
/** A step without a line that could be shown. */
export interface NoteRow { readonly kind: "note"; readonly step: number; readonly key: string }
/** The iterations of the loop above, to choose from. */
export interface IterationsRow { readonly kind: "iterations"; readonly loop: Loop }
/** Steps left out because the other path takes them too. */
export interface AlikeRow { readonly kind: "alike"; readonly count: number; readonly first: number }
export interface DefinitionRow { readonly kind: "definition"; readonly definition: number; readonly key: string }
export type Row = LineRow | FoldRow | FrameRow | AgainRow | NoteRow | DefinitionRow | IterationsRow | AlikeRow;

export interface FrameNode {
  readonly index: number;
  readonly frame: Frame;
  readonly source: Source | undefined;
  readonly depth: number;
  /** How many boxes stand around it: fewer than its depth where chains are closed. */
  readonly level: number;
  /** Functions that only pass the call on and share its head, outermost first, and their steps. */
  readonly via: readonly Via[];
  readonly closed: readonly number[];
  readonly parent: FrameNode | undefined;
  readonly rows: Row[];
  /** Room above a row that keeps two columns in step. */
  readonly pads: Map<number, number>;
  /** What is said in that room. */
  readonly reasons: Map<number, string>;
  /** The row below the bar that marks where two paths part. */
  parting: number | undefined;
  /** Where each row starts below the head, and at last where they end. */
  tops: number[];
  height: number;
  /** From the top of the column to the top of the box. */
  top: number;
  /** Distinct lines on screen, and lines there are. */
  shown: number;
  total: number;
}

export interface Via { readonly index: number; readonly frame: Frame; readonly depth: number }

export interface Place { readonly node: FrameNode; readonly row: number }

export interface Layout {
  readonly roots: FrameNode[];
  height: number;
  /** By step. */
  readonly places: (Place | undefined)[];
  /** Steps that are told by a count or in a head, and what has to be opened for each. */
  readonly hidden: ReadonlyMap<number, Cover>;
  /** For such a step, the one of the shown iteration that stands in its place. */
  readonly shownBy: ReadonlyMap<number, number>;
  readonly shown: number;
  readonly total: number;
  /** Rows and hidden lines: how much there would be to draw. */
  readonly size: number;
}

/** What hides a step: an iteration that is not drawn, or a function in a chain. */
export type Cover = Covered | { readonly chain: number };

/** How a path is drawn, apart from what the user opens in it. */
export interface Manner {
  /** Steps that only pass the call on: functions with no others share the head of the one they call. */
  readonly passing?: ReadonlySet<number>;
  /** Leaves out the lines before the first and after the last step of a function. */
  readonly tight?: boolean;
  /** Steps to leave out, with a count in their place. */
  readonly alike?: ReadonlySet<number>;
}

/** What the user has done to a path's column. */
export interface Unfolding {
  /** Opened lines by frame. */
  readonly open: ReadonlyMap<number, ReadonlySet<number>>;
  /** Opened definitions by row key. */
  readonly definitions: ReadonlyMap<string, number>;
  /** Opened loops by key. */
  readonly loops: OpenLoops;
  /** Functions taken out of their chain. */
  readonly chains: ReadonlySet<number>;
}

/** Finds the matches of some queries in lines, each line once. Quiet ones are marked where a line is shown, but open none. */
export class Finder {
  private readonly found = new Map<Source, Map<number, readonly Match[]>>();
  constructor(readonly queries: readonly Query[], private readonly quiet: ReadonlySet<string> = new Set()) {}

  /** Whether a match brings the line on screen. */
  opens(source: Source, number: number): boolean { return this.in(source, number).some(match => !this.quiet.has(match.query.term)); }

  in(source: Source, number: number): readonly Match[] {
    if (this.queries.length === 0) return none;
    let lines = this.found.get(source);
    if (!lines) this.found.set(source, lines = new Map());
    let matches = lines.get(number);
    if (!matches) lines.set(number, matches = matchesIn(source.line(number).text, this.queries));
    return matches;
  }
}
const none: readonly Match[] = [];

export function layoutPath(path: Path, sources: readonly Source[], definitions: readonly Definition[], finder: Finder, unfolding: Unfolding, manner: Manner = {}): Layout {
  const places: (Place | undefined)[] = new Array(path.steps.length).fill(undefined);
  const hidden = new Map<number, Cover>(), shownBy = new Map<number, number>();
  let size = 0;

  const layoutFrame = (outer: number, parent: FrameNode | undefined): FrameNode => {
    const via: Via[] = [], closed: number[] = [];
    let index = outer, depth = parent ? parent.depth + 1 : 0;
    for (let next = passedTo(path, index, manner.passing); next !== undefined && !unfolding.chains.has(index); next = passedTo(path, index, manner.passing)) {
      const frame = path.frames[index]!;
      via.push({ index, frame, depth: depth++ });
      for (const item of frame.items) if (item >= 0) { closed.push(item); hidden.set(item, { chain: index }); }
      index = next;
    }
    const whole = path.frames[index] ?? { fn: "", items: [] };
    const { items, alike } = withoutAlike(path, whole.items, manner.alike);
    const frame = manner.alike ? { ...whole, items } : whole;
    const source = frame.file === undefined ? undefined : sources[frame.file];
    const node: FrameNode = {
      index, frame, source, parent, depth, level: parent ? parent.level + 1 : 0, via, closed,
      rows: [], pads: new Map(), reasons: new Map(), parting: undefined, tops: [], height: 0, top: 0, shown: 0, total: frame.lines ? frame.lines[1] + 1 - frame.lines[0] : 0,
    };
    const seen = new Set<number>();
    const push = (row: Row) => { size++; node.rows.push(row); };
    const open = unfolding.open.get(index) ?? new Set<number>();

    let pending: Loop | undefined;
    const pushLine = (number: number, relevant: boolean, pass: number): LineRow => {
      const key = `${index}.${pass}.${number}`;
      const heads = pending && relevant && pending.head === number ? pending : undefined;
      if (heads) pending = undefined;
      const row: LineRow = { kind: "line", number, relevant, steps: [], matches: source ? finder.in(source, number) : none, key, ...(heads && { loop: heads }) };
      push(row);
      seen.add(number);
      return row;
    };
    const pushAlike = (item: number) => { const left = alike.get(item); if (left) push({ kind: "alike", ...left }); };
    /** What is open under a line. */
    const pushBelow = (row: LineRow) => {
      if (row.loop?.open) push({ kind: "iterations", loop: row.loop });
      pushDefinition(row.key);
    };
    const pushDefinition = (key: string) => {
      const definition = unfolding.definitions.get(key);
      if (definition !== undefined) push({ kind: "definition", definition, key });
    };
    /** Lines between two that stand out, folded unless opened. */
    const pushGap = (lines: readonly number[], pass: number) => {
      let at = 0;
      while (at < lines.length) {
        const first = lines[at] ?? 0, opened = open.has(first);
        let end = at + 1;
        while (end < lines.length && open.has(lines[end] ?? 0) === opened && lines[end] === (lines[end - 1] ?? 0) + 1) end++;
        const run = lines.slice(at, end);
        const blank = run.every(number => source?.line(number).text.trim() === "");
        push({ kind: "fold", first, last: run[run.length - 1] ?? first, open: opened, blank });
        size += run.length;
        if (opened) for (const number of run) { pushLine(number, false, pass); pushDefinition(`${index}.${pass}.${number}`); }
        at = end;
      }
    };

    const { passes, hidden: folded, shownBy: pairs } = foldLoops(path, index, passesOf(path, frame), item => lineOf(path, frame, item), unfolding.loops);
    for (const [item, cover] of folded) hide(path, item, cover, hidden);
    for (const [item, shown] of pairs) shownBy.set(item, shown);
    passes.forEach((pass, passIndex) => {
      const [first, last] = frame.lines ?? [0, -1];
      pending = pass.loop;
      const isFirst = passIndex === 0, isLast = passIndex === passes.length - 1;
      let start = isFirst ? first : pass.lines[0] ?? last + 1;
      let end = isLast ? last : pass.lines[pass.lines.length - 1] ?? first - 1;
      const tight = manner.tight === true && open.size === 0 && pass.lines.length > 0 && last - first >= SHORT;
      const relevant = new Set<number>();
      if (source && frame.lines) {
        for (const line of new Set(pass.lines)) source.reveal(line, first, last, relevant);
        if (finder.queries.length) {
          for (let number = start; number <= end; number++) if (finder.opens(source, number)) source.reveal(number, first, last, relevant);
        }
        if (tight) {
          // The function's own head and end are told by its box.
          for (const edge of [first, last]) if (!pass.lines.includes(edge)) relevant.delete(edge);
          if (isFirst) { start = last + 1; for (const line of relevant) start = Math.min(start, line); }
          if (isLast) { end = first - 1; for (const line of relevant) end = Math.max(end, line); }
        } else {
          if (isFirst) relevant.add(first);
          if (isLast) relevant.add(last);
        }
      }
      if (!isFirst && pass.lines.length) push({ kind: "again", to: start });
      let next = start;
      let current: LineRow | undefined;
      /** Emits lines up to and including `upto`. */
      const advance = (upto: number) => {
        let gap: number[] = [];
        for (; next <= upto; next++) {
          if (!relevant.has(next)) { gap.push(next); continue; }
          pushGap(gap, passIndex);
          gap = [];
          current = pushLine(next, true, passIndex);
          if (next < upto) pushBelow(current);
        }
        pushGap(gap, passIndex);
      };
      const settle = () => { if (current) { pushBelow(current); current = undefined; } };
      for (const item of pass.items) {
        if (alike.has(item)) { settle(); pushAlike(item); }
        if (item < 0) {
          settle();
          const inner = layoutFrame(-1 - item, node);
          push({ kind: "frame", node: inner });
          continue;
        }
        const line = lineOf(path, frame, item);
        if (line === undefined) {
          settle();
          places[item] = { node, row: node.rows.length };
          push({ kind: "note", step: item, key: `${index}.n.${item}` });
          continue;
        }
        if (!current || current.number !== line) {
          settle();
          if (line < next) current = pushLine(line, true, passIndex); // Back from a call: the line again.
          else advance(line);
        }
        current?.steps.push(item);
        places[item] = { node, row: node.rows.length - 1 };
      }
      settle();
      advance(end);
      settle();
    });
    pushAlike(END);
    node.shown = seen.size;
    return node;
  };

  const roots = path.roots.map(index => layoutFrame(index, undefined));
  let top: number = SIZE.paper, shown = 0, total = 0;
  for (const root of roots) {
    measure(root, definitions);
    place(root, top);
    top += root.height + SIZE.rootGap;
  }
  const count = (node: FrameNode) => {
    shown += node.shown;
    total += node.total;
    for (const row of node.rows) if (row.kind === "frame") count(row.node);
  };
  roots.forEach(count);
  return { roots, height: top, places, hidden, shownBy, shown, total, size };
}

/** Counts a step, or all steps of a frame, as hidden. */
function hide(path: Path, item: number, cover: Cover, into: Map<number, Cover>): void {
  for (const step of stepsOf(path, item)) into.set(step, cover);
}

/** The steps of an item: itself, or all of a frame. */
function* stepsOf(path: Path, item: number): Generator<number> {
  const todo = [item];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (next >= 0) yield next; else todo.push(...(path.frames[-1 - next]?.items ?? []));
  }
}

/** The function that a frame hands on to, if that is all it does. */
export function passedTo(path: Path, index: number, passing: ReadonlySet<number> | undefined): number | undefined {
  const items = passing && path.frames[index]?.items;
  if (!items) return undefined;
  const last = items[items.length - 1];
  return last !== undefined && last < 0 && items.length > 1 && items.slice(0, -1).every(item => item >= 0 && passing.has(item)) ? -1 - last : undefined;
}

/** Functions shorter than this keep their head and end also where space is short. */
const SHORT = 10;

/** Stands for the end of a frame where an item is asked for. */
const END = Infinity;

/** The items of a frame without those that are alike, and before which item how many of them stood. */
function withoutAlike(path: Path, items: readonly number[], alike: ReadonlySet<number> | undefined): { items: readonly number[]; alike: ReadonlyMap<number, { count: number; first: number }> } {
  const left = new Map<number, { count: number; first: number }>();
  if (!alike) return { items, alike: left };
  const gone = (item: number) => { for (const step of stepsOf(path, item)) if (!alike.has(step)) return false; return true; };
  // A call whose function stays is needed to understand it.
  const kept = items.map((item, at) => !gone(item) || (item >= 0 && (items[at + 1] ?? 0) < 0 && !gone(items[at + 1]!)));
  const out: number[] = [];
  let run: { count: number; first: number } | undefined;
  items.forEach((item, at) => {
    if (kept[at]) { if (run) left.set(item, run); run = undefined; out.push(item); return; }
    for (const step of stepsOf(path, item)) { if (path.steps[step]?.p) continue; run ??= { count: 0, first: step }; run.count++; run.first = Math.min(run.first, step); }
  });
  if (run) left.set(END, run);
  return { items: out, alike: left };
}

/** The line of a step in its frame, if the frame shows it. */
function lineOf(path: Path, frame: Frame, item: number): number | undefined {
  const step = path.steps[item];
  if (step?.l === undefined || step.f !== undefined || !frame.lines) return undefined;
  return step.l >= frame.lines[0] && step.l <= frame.lines[1] ? step.l : undefined;
}

/** Cuts the items of a frame wherever the path goes back up. */
function passesOf(path: Path, frame: Frame): Pass[] {
  const passes: Pass[] = [{ items: [], lines: [] }];
  let pass = passes[0]!, before = 0;
  for (const item of frame.items) {
    const line = item < 0 ? undefined : lineOf(path, frame, item);
    if (line !== undefined) {
      if (line < before) passes.push(pass = { items: [], lines: [] });
      pass.lines.push(line);
      before = line;
    }
    pass.items.push(item);
  }
  return passes;
}

export function rowHeight(row: Row, definitions: readonly Definition[]): number {
  switch (row.kind) {
    case "line": case "note": return SIZE.line;
    case "fold": return row.blank ? 0 : SIZE.fold;
    case "again": return SIZE.again;
    case "iterations": return SIZE.iterations;
    case "alike": return SIZE.alike;
    case "frame": return SIZE.marginTop + row.node.height + SIZE.marginBottom;
    case "definition": return definitionHeight(definitions[row.definition]);
  }
}

export function definitionHeight(definition: Definition | undefined): number {
  const lines = (definition?.chunk.lines.length ?? 0) + (definition?.more ? 1 : 0);
  return 44 + lines * SIZE.line;
}

function measure(node: FrameNode, definitions: readonly Definition[]): void {
  let top = 0;
  node.tops = [];
  node.rows.forEach((row, at) => {
    if (row.kind === "frame") measure(row.node, definitions);
    top += node.pads.get(at) ?? 0;
    node.tops.push(top);
    top += rowHeight(row, definitions);
  });
  node.tops.push(top);
  node.height = SIZE.border + SIZE.head + SIZE.padding + top + SIZE.padding + SIZE.border;
}

/** Measures and places everything again, after room was added above rows. */
export function remeasure(layout: Layout, definitions: readonly Definition[]): number {
  let top: number = SIZE.paper;
  for (const root of layout.roots) {
    measure(root, definitions);
    place(root, top);
    top += root.height + SIZE.rootGap;
  }
  return top;
}

/** Where the rows of a box begin, below its top. */
export const BODY = SIZE.border + SIZE.head + SIZE.padding;

function place(node: FrameNode, top: number): void {
  node.top = top;
  node.rows.forEach((row, at) => {
    if (row.kind === "frame") place(row.node, top + BODY + (node.tops[at] ?? 0) + SIZE.marginTop);
  });
}

/** The rows of a box that reach into a window, as a half-open range; widened to whole groups so that it changes rarely. */
export function rowsBetween(node: FrameNode, from: number, to: number, group = 32): readonly [number, number] {
  const base = node.top + BODY, count = node.rows.length;
  if (to < base || from > base + (node.tops[count] ?? 0)) return [0, 0];
  let low = lastAtOrBefore(node.tops, from - base), high = lastAtOrBefore(node.tops, to - base) + 1;
  low = Math.floor(low / group) * group;
  high = Math.min(count, Math.ceil(high / group) * group);
  return [Math.max(0, low), high];
}

function lastAtOrBefore(tops: readonly number[], y: number): number {
  let low = 0, high = tops.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= y) low = middle; else high = middle - 1;
  }
  return low;
}

/** From the top of the column to the top of a row. */
export const topOf = (place: Place): number => place.node.top + BODY + (place.node.tops[place.row] ?? 0);

/** All rows in reading order, with the box they stand in. */
export function* rowsOf(roots: readonly FrameNode[]): Generator<Place> {
  for (const node of roots) {
    for (let row = 0; row < node.rows.length; row++) {
      const here = node.rows[row];
      if (here?.kind === "frame") yield* rowsOf([here.node]);
      else yield { node, row };
    }
  }
}
