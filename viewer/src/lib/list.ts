// The list of reports: which rows pass the filters, and in which order.

import type { Report, TriageRecord } from "./page.ts";
import { STATES, isTriaged, stateOf, type State } from "./triage.ts";

export type SortKey = "state" | "id" | "place" | "rule" | "severity" | "tool";
export interface Filter {
  readonly state: State | "all" | "waiting" | "triaged";
  readonly severity: 0 | 1 | 2 | 3;
  readonly text: string;
  readonly baseline: "all" | "new" | "old" | "absent";
  readonly sort: SortKey;
  readonly descending: boolean;
}
export const noFilter: Filter = { state: "all", severity: 0, text: "", baseline: "all", sort: "id", descending: false };

export interface ListRow { readonly report: Report; readonly index: number; readonly state: State; readonly record: TriageRecord | undefined }

export function rowsFor(reports: readonly Report[], records: Readonly<Record<string, TriageRecord>>): ListRow[] {
  return reports.map((report, index) => {
    const record = records[report.fingerprint];
    return { report, index, record, state: stateOf(report, record) };
  });
}

/** Made when a list is first sorted: most pages never are. */
let collator: Intl.Collator | undefined;
const collate = (a: string, b: string): number => (collator ??= new Intl.Collator("en", { numeric: true, sensitivity: "base" })).compare(a, b);

/** What the tool says, looked through only where nothing shorter has the word. */
const texts = new WeakMap<Report, string>();
function wordsOf(report: Report): string {
  const known = texts.get(report);
  if (known !== undefined) return known;
  const said = [...report.text.map(piece => piece.text), ...report.paths.flatMap(path => path.steps.map(step => step.m ?? "")), ...report.related.map(one => one.message)].join("\n").toLowerCase();
  texts.set(report, said);
  return said;
}

export function filtered(rows: readonly ListRow[], filter: Filter): ListRow[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const passes = (row: ListRow) => {
    // What is fixed or known to be good waits for nobody, and is not counted either.
    if (filter.state !== "all" && !isCounted(row)) return false;
    if (filter.state === "triaged" || filter.state === "waiting" ? isTriaged(row.state) !== (filter.state === "triaged") : filter.state !== "all" && row.state !== filter.state) return false;
    if (filter.severity !== 0 && row.report.severity !== filter.severity) return false;
    const { id, title, rule, tool, place, baseline } = row.report;
    const age = baseline === "updated" ? "unchanged" : baseline;
    if (filter.baseline !== "all" && age !== { new: "new", old: "unchanged", absent: "absent" }[filter.baseline]) return false;
    const said = `${id} ${title} ${rule} ${tool} ${place}`.toLowerCase();
    const fields: Readonly<Record<string, string>> = { rule, tool, file: place, title, is: `${isCounted(row) || isTriaged(row.state) ? row.state : ""} ${age ?? ""} ${age === "absent" ? "fixed" : ""} ${row.report.passed ? "passed" : ""} ${row.record?.conflicts?.length ? "conflict" : ""} ${!row.record && row.report.perhaps?.length ? "perhaps" : ""}` };
    return words.every(word => {
      const [, name = "", value = ""] = /^(rule|tool|file|title|is):(.+)$/.exec(word) ?? [];
      return name ? (fields[name] ?? "").toLowerCase().includes(value) : said.includes(word) || wordsOf(row.report).includes(word);
    });
  };
  const sign = filter.descending ? -1 : 1;
  const compare = (a: ListRow, b: ListRow): number => {
    switch (filter.sort) {
      case "state": return STATES.indexOf(a.state) - STATES.indexOf(b.state);
      case "severity": return a.report.severity - b.report.severity;
      case "id": return a.index - b.index;
      default: return collate(a.report[filter.sort], b.report[filter.sort]);
    }
  };
  return rows.filter(passes).sort((a, b) => sign * compare(a, b) || a.index - b.index);
}

const isCounted = ({ report }: ListRow): boolean => report.baseline !== "absent" && !report.passed;

export function progress(rows: readonly ListRow[]): { readonly counts: Readonly<Record<State, number>>; readonly triaged: number; readonly total: number } {
  const counts: Record<State, number> = { open: 0, started: 0, true: 0, false: 0, unsure: 0 };
  const waiting = rows.filter(isCounted);
  for (const row of waiting) counts[row.state]++;
  return { counts, triaged: waiting.filter(row => isTriaged(row.state)).length, total: waiting.length };
}
