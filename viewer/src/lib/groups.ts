// Reports by the hundred: by rule, and within a rule by likeness, so that one look may settle many.

import type { ListRow } from "./list.ts";
import type { Page, Report } from "./page.ts";
import { codeOf, endsOf, placeOf, shapeOf } from "./shapes.ts";
import type { Source } from "./source.ts";

export type Grouping = "none" | "rule" | "sink" | "source" | "file";
export const GROUPINGS: readonly (readonly [Grouping, string])[] = [["none", "List"], ["rule", "Rule"], ["sink", "Sink"], ["source", "Source"], ["file", "File"]];
/** From this many reports on, a page opens grouped. */
export const MANY = 40;

export interface Member { readonly row: ListRow; readonly code: string; /** The line of the code, and what of it the report is about. */ readonly place: CodePlace | undefined; /** How it differs from most of its group. */ readonly differs?: string }
/** A line of a file, with the columns that a report is about. */
export interface CodePlace { readonly source: Source; readonly line: number; readonly columns: readonly [number, number | null] | undefined }
export interface Group {
  readonly key: string;
  /** `source` to `sink`, or the sink alone. */
  readonly shapes: readonly string[];
  readonly why: string;
  readonly members: readonly Member[];
}
export interface Family {
  readonly key: string;
  readonly title: string;
  readonly detail: string;
  readonly tool: string;
  readonly severity: number;
  readonly rows: readonly ListRow[];
  readonly groups: readonly Group[];
}

interface Facts { readonly code: string; readonly place: CodePlace | undefined; readonly sink: string; readonly source: string | undefined; readonly functions: string; readonly used: boolean; readonly file: string }

function factsOf(report: Report, sources: readonly Source[]): Facts {
  const ends = endsOf(report), file = report.place.replace(/:\d+$/, "");
  if (!ends) return { code: "", place: undefined, sink: "", source: undefined, functions: "", used: false, file };
  const code = codeOf(ends.path, ends.sink, sources);
  const functions = ends.path.frames.map(frame => frame.fn).join(" > ");
  const source = ends.source === undefined ? undefined : shapeOf(codeOf(ends.path, ends.source, sources));
  // What stands before a call uses its result.
  const used = /^[^(]*(=|\breturn\b|\bif\b|\bwhile\b)/.test(code);
  return { code, place: placeOf(ends.path, ends.sink, sources), sink: withoutUse(shapeOf(code)) || (ends.path.frames[ends.path.frames.length - 1]?.fn ?? ""), source: source === "" ? undefined : source, functions, used, file };
}

/** `□ = f(□)` and `f(□)` make the same call. */
const withoutUse = (shape: string): string => shape.replace(/^(?:□ )+(?:[-+*/%&|^]?= )?(?=[A-Za-z_$][\w$]*\()/, "").replace(/^return (?=[A-Za-z_$][\w$]*\()/, "");

/** A title without the names that differ from report to report. */
export const plainTitle = (title: string): string => title.replace(/(['‘`"])[^'’`"]*(['’`"])/g, "\u2026").replace(/\b0x[\da-f]+\b|\b\d+\b/gi, "\u2026").replace(/(\u2026[\s,]*)+/g, "\u2026 ").trim();

/** What reports are called together; one alone keeps its own words. */
const titleOf = (reports: readonly Report[]): string => (reports.length === 1 ? reports[0]!.title : most(reports.map(report => plainTitle(report.title))));

function collect<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const all = new Map<string, T[]>();
  for (const item of items) {
    const name = key(item), known = all.get(name);
    if (known) known.push(item); else all.set(name, [item]);
  }
  return all;
}

const most = (words: readonly string[]): string => {
  const counts = [...collect(words, word => word)].sort((a, b) => b[1].length - a[1].length);
  return counts[0]?.[0] ?? "";
};

export function familiesOf(rows: readonly ListRow[], page: Page, sources: readonly Source[], by: Grouping): Family[] {
  const known = rows.map(row => ({ row, facts: factsOf(row.report, sources) }));
  type Known = (typeof known)[number];
  const familyKey = ({ row, facts }: Known): string => {
    if (row.report.baseline === "absent") return "\uffff fixed";
    if (row.report.passed) return "\uffff passed";
    switch (by) {
      case "sink": return facts.sink;
      case "source": return facts.source ?? "no source told";
      case "file": return facts.file;
      // A message without an option's name is of a sort with those that say the same.
      default: return `${row.report.rule || plainTitle(row.report.title)} ${row.report.tool}`;
    }
  };
  const families = [...collect(known, familyKey)].map(([key, members]): Family => {
    const reports = members.map(member => member.row.report), first = reports[0]!;
    const rule = first.help === undefined ? undefined : page.rules?.[first.help];
    const special = key === "\uffff fixed" ? "Fixed since the baseline" : key === "\uffff passed" ? "Known good" : undefined;
    const title = special ?? (by === "rule" || by === "none" ? rule?.summary || (rule?.name !== rule?.id ? rule?.name : "") || titleOf(reports) : key || "no code told");
    const groups = [...collect(members, ({ row, facts }) => (by === "rule" || by === "none" || special ? `${facts.source ?? ""}\n${facts.sink}` : `${row.report.rule}\n${facts.sink}`))].map(([like, alike]) => groupOf(`${key}\n${like}`, alike));
    groups.sort((a, b) => b.members.length - a.members.length);
    return {
      key, title, detail: special ? (special === "Known good" ? "paths on which all is well" : "not found in this run; verdicts kept") : by === "rule" || by === "none" ? first.rule : "",
      tool: special ? "" : most(reports.map(report => report.tool)), severity: special ? 0 : Math.max(...reports.map(report => report.severity)), rows: members.map(member => member.row), groups,
    };
  });
  const weight = (family: Family) => (family.severity === 0 ? -1 : family.severity);
  return families.sort((a, b) => weight(b) - weight(a) || (b.rows.some(row => row.report.baseline === "new") ? 1 : 0) - (a.rows.some(row => row.report.baseline === "new") ? 1 : 0) || b.rows.length - a.rows.length || (a.key < b.key ? -1 : 1));

  function groupOf(key: string, alike: readonly Known[]): Group {
    const first = alike[0]!.facts, files = new Set(alike.map(one => one.facts.file)).size;
    const used = alike.filter(one => one.facts.used).length * 2 > alike.length, usual = most(alike.map(one => one.facts.functions));
    const shapes = first.source !== undefined && first.source !== first.sink ? [first.source, first.sink] : [first.sink];
    const sinks = new Set(alike.map(one => one.facts.code)).size;
    const why = alike.length === 1 ? "" : shapes.length === 2 ? `same source, same sink` : `same statement, ${files === 1 ? `${sinks} ${sinks === 1 ? "line" : "lines"}` : `${files} files`}`;
    const members = alike.map(({ row, facts }): Member => {
      const differs = facts.used !== used ? (facts.used ? "result used" : "result dropped") : alike.length > 2 && shapes.length === 2 && facts.functions !== usual && alike.filter(one => one.facts.functions === usual).length * 2 > alike.length ? "another way there" : undefined;
      return { row, code: facts.code, place: facts.place, ...(differs && { differs }) };
    });
    return { key, shapes, why, members };
  }
}

/** How the members of a group were judged, in words, once any is: `all false`, `3 true, 2 false`. */
export function agreement(states: readonly string[]): string {
  const judged = states.filter(state => state === "true" || state === "false" || state === "unsure"), counts = [...collect(judged, state => state)];
  if (counts.length === 0) return "";
  if (counts.length === 1 && judged.length === states.length) return `all ${counts[0]![0]}`;
  // Like reports that are judged differently are worth a look.
  return counts.length > 1 ? counts.map(([state, some]) => `${some.length} ${state}`).join(", ") : "";
}

/** Where the reports of a group lie: files with their counts, most first. */
export function filesOf(members: readonly Member[]): readonly (readonly [string, number])[] {
  return [...collect(members, ({ row }) => row.report.place.replace(/:\d+$/, "").split("/").pop() ?? "")].map(([file, some]) => [file, some.length] as const).sort((a, b) => b[1] - a[1]);
}
