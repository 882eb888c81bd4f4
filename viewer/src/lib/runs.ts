// A line of code cut into runs of text that are shown alike: syntax, names with definitions, query marks, the access.

import type { Match } from "./query.ts";
import { tokensOf, type SourceLine, type TokenClass } from "./source.ts";

/** Longer lines are cut; what is cut is counted. */
export const LONGEST_SHOWN = 2_000;

export interface Run {
  readonly text: string;
  readonly kind?: TokenClass;
  readonly definition?: number;
  readonly match?: Match;
  readonly callee?: boolean;
  readonly access?: boolean;
}

export interface Emphasis {
  /** A function whose body is inlined below: its name carries the hue of its box. */
  readonly callee?: string;
  /** What goes wrong, as offsets into the line. */
  readonly access?: readonly [number, number];
}

export function runsOf(line: SourceLine, matches: readonly Match[], emphasis: Emphasis): { runs: Run[]; cut: number } {
  const text = line.text.slice(0, LONGEST_SHOWN);
  const tokens = tokensOf(line.tokens);
  const callee = emphasis.callee ? wordAt(text, emphasis.callee) : undefined;
  const cuts = new Set([0, text.length]);
  const cutAt = (...places: number[]) => { for (const place of places) if (place > 0 && place < text.length) cuts.add(place); };
  for (const token of tokens) cutAt(token.start, token.end);
  for (const match of matches) cutAt(match.start, match.end);
  if (callee) cutAt(...callee);
  if (emphasis.access) cutAt(...emphasis.access);
  const places = [...cuts].sort((a, b) => a - b);
  const inside = (range: readonly [number, number] | undefined, start: number) => !!range && range[0] <= start && start < range[1];
  const runs: Run[] = [];
  let token = 0;
  for (let at = 0; at + 1 < places.length; at++) {
    const start = places[at] ?? 0, end = places[at + 1] ?? 0;
    while ((tokens[token]?.end ?? Infinity) <= start) token++;
    const here = tokens[token];
    const covered = here && here.start <= start ? here : undefined;
    const match = matches.find(candidate => candidate.start <= start && start < candidate.end);
    runs.push({
      text: text.slice(start, end),
      ...(covered && { kind: covered.kind }),
      ...(covered && covered.kind === "d" && { definition: covered.definition }),
      ...(match && { match }),
      ...(inside(callee, start) && { callee: true }),
      ...(inside(emphasis.access, start) && { access: true }),
    });
  }
  return { runs, cut: line.text.length - text.length };
}

/** Where a whole word stands in a text. */
function wordAt(text: string, word: string): readonly [number, number] | undefined {
  const isWord = (c: string | undefined) => c !== undefined && /[\w$]/.test(c);
  for (let at = text.indexOf(word); at >= 0 && word !== ""; at = text.indexOf(word, at + 1)) {
    if (!isWord(text[at - 1]) && !isWord(text[at + word.length])) return [at, at + word.length];
  }
  return undefined;
}

/**
 * What to underline on the line where it goes wrong. Tools give a column of the operand at best, so: from there to
 * the end they name or the end of the expression's first word group. A column of an operator means what it works on,
 * to the end of the statement; without a column, the whole line.
 */
export function accessRange(text: string, columns: readonly [number, number | null] | undefined): readonly [number, number] {
  const whole: readonly [number, number] = [text.length - text.trimStart().length, text.trimEnd().replace(/\s*[;{]$/, "").length];
  if (!columns) return whole;
  const start = columns[0] - 1;
  if (start < 0 || start >= text.length) return whole;
  const end = columns[1] === null ? 0 : columns[1] - 1;
  if (end > start) return [start, Math.min(end, text.length)];
  const word = /^[\w$]+(?:(?:->|\.|::)[\w$]+|\[[^\]]*\])*/.exec(text.slice(start));
  if (word) return [start, start + word[0].length];
  // Operands are short; a long line must not be searched from every one of its characters.
  const before = text.slice(Math.max(0, start - 200), start);
  const operand = /[\w$](?:[\w$.[\]]|->|::)*\s*$/.exec(before);
  const rest = /^[^;{}]*/.exec(text.slice(start))![0].trimEnd();
  return [operand ? start - before.length + operand.index : start, Math.max(start + 1, start + rest.length)];
}
