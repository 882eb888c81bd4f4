// The form `parallax-timeline/1` that `parallax timeline` writes, and what is reckoned from it. Nothing here draws.

export interface File {
  readonly name: string;
  /** Stretches of lines: the number of the first, and their texts. */
  readonly chunks: readonly (readonly [number, readonly string[]])[];
  /** Why there is no text. */
  readonly missing?: string;
}

export interface Thread {
  readonly id: number;
  readonly name: string;
  /** When it runs: starts and lengths, each start counted from the end before. */
  readonly turns: readonly number[];
}

/** Calls of the program's own functions: start, length, depth, name, one after the other, in the order of their starts. */
export interface Calls {
  readonly names: readonly string[];
  readonly byThread: readonly (readonly number[])[];
  /** What was left out, in words. */
  readonly without?: string;
}

export interface Lane {
  readonly name: string;
  readonly kind: "breakpoints" | "watchpoints" | "syscalls" | "signals" | "calls" | "script";
  /** Where it comes from, in words. */
  readonly sub: string;
  /** The line of the script that made it. */
  readonly line?: number;
  /** Whether its items are mistakes that were found. */
  readonly finding?: boolean;
  /** Times, each counted from the one before. */
  readonly times: readonly number[];
  /** Whether there are more items than these. */
  readonly cut?: boolean;
  /** A number per item, where the values are numbers: drawn as a line. */
  readonly numbers?: readonly (number | null)[];
  /** What is said of each item: an index into `texts`. */
  readonly says?: readonly number[];
  /** Whether each item is a write, for accesses of memory. */
  readonly writes?: readonly number[];
}

export interface Frame {
  readonly fn: string;
  readonly file: number;
  readonly line: number;
  readonly inlined?: boolean;
  /** First and last line of the function, as far as they are known. */
  readonly lines?: readonly [number, number];
  /** Parameters and variables with their values. */
  readonly values: readonly (readonly [string, string])[];
}

export interface Moment {
  readonly t: number;
  readonly after?: boolean;
  readonly thread: number;
  /** Innermost first. */
  readonly frames: readonly Frame[];
}

export interface Timeline {
  readonly format: "parallax-timeline/1";
  readonly recording: string;
  readonly program: string;
  readonly end: number;
  /** How the run ended, in words, and the name of the signal that ended it. */
  readonly ending?: { readonly words: string; readonly signal: string | null };
  readonly threads: readonly Thread[];
  readonly calls?: Calls;
  readonly lanes: readonly Lane[];
  readonly texts: readonly string[];
  readonly moments: readonly Moment[];
  readonly files: readonly File[];
  readonly script: { readonly name: string; readonly lines: readonly string[]; readonly seconds: number };
  readonly notes: readonly string[];
}

/** Differences as sums. */
export function sums(differences: readonly number[]): number[] {
  let at = 0;
  return differences.map(by => (at += by));
}

/** Where the first number at or above `wanted` is. */
export function lowerBound(sorted: readonly number[], wanted: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < wanted) low = middle + 1; else high = middle;
  }
  return low;
}

/** The index of the number nearest to a wanted one, or -1. */
export function nearest(sorted: readonly number[], wanted: number): number {
  const at = lowerBound(sorted, wanted);
  if (at === 0) return sorted.length ? 0 : -1;
  if (at === sorted.length) return at - 1;
  return sorted[at]! - wanted < wanted - sorted[at - 1]! ? at : at - 1;
}

/** A number with thin spaces between groups of three digits. */
export function grouped(value: number): string {
  const [whole = "", part] = Math.abs(value) >= 1e21 ? [String(value)] : String(Math.abs(value)).split(".");
  return (value < 0 ? "\u2212" : "") + whole.replace(/\B(?=(\d{3})+$)/g, "\u2009") + (part ? `.${part}` : "");
}

export const counted = (count: number, one: string, many = `${one}s`): string => `${grouped(count)} ${count === 1 ? one : many}`;

/** Bins of density are this wide, and items closer than this become density. */
export const BIN = 4;

/** Items too close to be drawn one by one. */
export interface Dense { readonly from: number; readonly to: number; readonly count: number; readonly bars: readonly number[] }
export interface Drawn { readonly items: readonly number[]; readonly dense: readonly Dense[]; readonly count: number }

/** Dense stretches closer than this share a count: their counts would cover each other. */
const APART = 12 * BIN;

/** What of a lane is drawn in a window: single items by index, and dense stretches in pixels. Costs bins, not items. */
export function cluster(times: readonly number[], from: number, to: number, width: number): Drawn {
  const bins = Math.max(1, Math.floor(width / BIN)), scale = (to - from) / bins;
  const first = lowerBound(times, from), last = lowerBound(times, to);
  /** Where the items of each bin start. */
  const starts: number[] = [];
  for (let bin = 0; bin < bins; bin++) starts.push(bin === 0 ? first : Math.max(starts[bin - 1]!, lowerBound(times, from + bin * scale)));
  starts.push(last);
  const stretches: { from: number; to: number; dense: boolean }[] = [];
  for (let bin = 0; bin < bins; bin++) {
    if (starts[bin + 1] === starts[bin]) continue;
    let end = bin;
    while (end < bins && starts[end + 1]! > starts[end]!) end++;
    const [a, b] = [starts[bin]!, starts[end]!];
    const single = b - a === 1 || (b - a === 2 && times[b - 1]! - times[a]! >= scale);
    const before = stretches[stretches.length - 1];
    // Single ones between two dense stretches that stand close go with them.
    const near = [...stretches].reverse().find(one => one.dense);
    if (!single && near && (bin - near.to) * BIN < APART) {
      while (stretches[stretches.length - 1] !== near) stretches.pop();
      near.to = end;
    } else if (single && before?.dense && (bin - before.to) * BIN < BIN * 2) before.to = end;
    else stretches.push({ from: bin, to: end, dense: !single });
    bin = end;
  }
  const items: number[] = [], dense: Dense[] = [];
  for (const one of stretches) {
    const [a, b] = [starts[one.from]!, starts[one.to]!];
    if (one.dense) dense.push({ from: one.from * BIN, to: one.to * BIN, count: b - a, bars: Array.from({ length: one.to - one.from }, (_, at) => starts[one.from + at + 1]! - starts[one.from + at]!) });
    else for (let index = a; index < b; index++) items.push(index);
  }
  return { items, dense, count: last - first };
}

/** A distance between ticks that is round and leaves at least `room` pixels. */
export function tickDistance(from: number, to: number, width: number, room = 90): number {
  const least = ((to - from) * room) / Math.max(width, 1);
  let step = 1;
  while (step < least) step *= step / 10 ** Math.floor(Math.log10(step)) === 2 ? 2.5 : 2;
  return Math.max(1, Math.round(step));
}

/** Words, strings, numbers and comments of a line, for colours. */
const TOKEN = /(?<c>\/\*.*?\*\/|\/\/.*$|#\s.*$)|(?<s>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?<w>[A-Za-z_]\w*)|(?<n>\b\d[\w.]*)/g;
const WORDS = new Set("break case catch char class const continue default def del do double elif else enum extern False float for from goto if import in inline int is lambda long namespace new None not or and pass private public raise register restrict return short signed size_t sizeof static struct switch template this throw True try typedef union unsigned using virtual void volatile while with yield".split(" "));

/** A line in pieces: a class (or none) and a text. */
export function tokens(line: string): [string, string][] {
  const pieces: [string, string][] = [];
  let done = 0;
  for (const match of line.matchAll(TOKEN)) {
    const kind = match.groups?.["c"] ? "c" : match.groups?.["s"] ? "s" : match.groups?.["n"] ? "n" : WORDS.has(match[0]) ? "k" : "";
    if (!kind) continue;
    if (match.index > done) pieces.push(["", line.slice(done, match.index)]);
    pieces.push([kind, match[0]]);
    done = match.index + match[0].length;
  }
  if (done < line.length) pieces.push(["", line.slice(done)]);
  return pieces;
}

/** A lane with its times summed. */
export interface Times { readonly lane: Lane; readonly times: readonly number[] }

/** The turns of a thread as starts and ends. */
export function turnsOf(thread: Thread): { starts: number[]; ends: number[] } {
  const starts: number[] = [], ends: number[] = [];
  let at = 0;
  for (let index = 0; index + 1 < thread.turns.length; index += 2) {
    at += thread.turns[index]!;
    starts.push(at);
    at += thread.turns[index + 1]!;
    ends.push(at);
  }
  return { starts, ends };
}
