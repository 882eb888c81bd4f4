// The shape of a statement: its words with everything that differs from place to place left out.

import type { Path, Report } from "./page.ts";
import type { Source } from "./source.ts";
import { framesOf } from "./values.ts";

/** What stands for a part that differs. */
export const HOLE = "\u25a1";

const KEPT = new Set("if else while for switch case return sizeof new delete throw goto break continue do await yield not and or in is None NULL nullptr true false this self unsafe".split(" "));
const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_$][\w$]*|\d[\w.]*|->|::|[-+*/%&|^=!<>]=|&&|\|\||<<|>>|\+\+|--|\S/g;

/** What is said in a comment makes no other statement, nor does the end of a line of a macro; quotes may hold what looks like one. */
const withoutComments = (code: string): string => code.replace(/("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\/\*.*?(?:\*\/|$)|\/\/.*$/gm, (_, quoted: string | undefined) => quoted ?? " ").replace(/\\\s*$/, "").trim();

/** `snprintf(path, sizeof path, "%s", job->name);` is `snprintf(□, sizeof □, □)`. */
export function shapeOf(statement: string): string {
  const tokens = withoutComments(statement).match(TOKEN) ?? [];
  const out: string[] = [];
  tokens.forEach((token, at) => {
    if (token === ";" || token === "{" || token === "}") return;
    const next = tokens[at + 1];
    const word = /^[A-Za-z_$]/.test(token);
    const hole = /^["']/.test(token) || /^\d/.test(token) || (word && !KEPT.has(token) && next !== "(");
    if (!hole) { out.push(token); return; }
    // A member of something, or an element of it, is the same part.
    const last = out[out.length - 1];
    if ((last === "." || last === "->" || last === "::") && out[out.length - 2] === HOLE) { out.splice(-1); return; }
    out.push(HOLE);
  });
  return out.join(" ").replace(new RegExp(`${HOLE} \\[ [^\\]]* \\]`, "g"), HOLE)
    .replace(/ ([,)\]])/g, "$1").replace(/([([]) /g, "$1").replace(/([\w$]) \(/g, "$1(").replace(/([-*&!~]) (?=□)/g, (text, sign: string, at: number, all: string) => (at === 0 || /[(,=] $/.test(all.slice(0, at)) ? sign : text))
    .replace(/\b(if|while|for|switch|return)\(/g, "$1 (").trim();
}

/** The line of a step, if its file is here. */
export function placeOf(path: Path, step: number, sources: readonly Source[]): { readonly source: Source; readonly line: number; readonly columns: readonly [number, number | null] | undefined } | undefined {
  const data = path.steps[step];
  if (data?.l === undefined) return undefined;
  const home = framesOf(path).get(step), file = data.f ?? (home === undefined ? undefined : path.frames[home]?.file), source = file === undefined ? undefined : sources[file];
  return source && { source, line: data.l, columns: data.c };
}

/** The code of a step. */
export function codeOf(path: Path, step: number, sources: readonly Source[]): string {
  const place = placeOf(path, step, sources);
  return place ? place.source.line(place.line).text.trim() : "";
}

/** Where a report ends, and where it begins if that is elsewhere. */
export function endsOf(report: Report): { readonly path: Path; readonly source: number | undefined; readonly sink: number } | undefined {
  const path = report.paths.find(one => one.steps.some(step => step.x)) ?? report.paths[0];
  if (!path || path.steps.length === 0) return undefined;
  const marked = path.steps.findLastIndex(step => step.x), sink = marked < 0 ? path.steps.length - 1 : marked;
  const told = path.steps.findIndex(step => !step.p && step.r !== "entry");
  return { path, sink, source: told >= 0 && told < sink ? told : undefined };
}

/** The part of a line that a call makes, from its name to its closing bracket; the whole line where there is none. */
export function callAt(code: string, column: number | undefined): string {
  const from = column !== undefined && column > 0 && column <= code.length ? column - 1 : -1;
  const call = /[A-Za-z_$][\w$]*\s*\(/g;
  call.lastIndex = Math.max(0, from);
  const found = from >= 0 ? call.exec(code) : null;
  if (!found || found.index !== from) return code;
  let depth = 0;
  for (let at = found.index; at < code.length; at++) {
    if (code[at] === "(") depth++;
    if (code[at] === ")" && --depth === 0) return code.slice(found.index, at + 1);
  }
  return code;
}
