// The state of reports: what the triage file, the browser's own memory and the tools' suppressions say together.

import type { Judgement, Report, Triage, TriageRecord } from "./page.ts";

export type State = "open" | "started" | "true" | "false" | "unsure";
export const STATES: readonly State[] = ["open", "started", "true", "false", "unsure"];
export const STATE_NAMES: Readonly<Record<State, string>> = { open: "Open", started: "Started", true: "True", false: "False", unsure: "Unsure" };

export const emptyRecord = (title: string): TriageRecord =>
  ({ title, answers: {}, explanations: {}, verdict: null, note: "", author: "", time: "" });

export function stateOf(report: Report, record: TriageRecord | undefined): State {
  if (record?.verdict) return record.verdict;
  const begun = record && (Object.keys(record.answers).length > 0 || Object.values(record.explanations).some(Boolean) || record.note !== "");
  if (begun) return "started";
  return report.suppressed === undefined ? "open" : "false";
}

export const isTriaged = (state: State): boolean => state === "true" || state === "false" || state === "unsure";

/** So many verdicts on one report are remembered. */
const REMEMBERED = 50;

/** A record with its verdict put down in its history. */
export function remembered(record: TriageRecord): TriageRecord {
  const { verdict, author, time, note } = record;
  return { ...record, history: [...(record.history ?? []), { verdict, author, time, note }].slice(-REMEMBERED) };
}

/** Every verdict a report had, the oldest first. */
export function historyOf(record: TriageRecord | undefined): readonly Judgement[] {
  if (!record) return [];
  if (record.history?.length) return record.history;
  // Files of before there was a history have the last verdict only.
  return record.verdict ? [{ verdict: record.verdict, author: record.author, time: record.time, note: record.note }] : [];
}

/** Two sets of records; where both know a report, the later one counts. */
export function merge(older: Triage["records"], newer: Triage["records"]): Record<string, TriageRecord> {
  const all: Record<string, TriageRecord> = { ...older };
  for (const [fingerprint, record] of Object.entries(newer)) {
    const known = all[fingerprint];
    if (!known || record.time >= known.time) all[fingerprint] = record;
  }
  return all;
}

/** A triage file's text, or why it is none. */
export function readTriage(text: string): Triage | string {
  let data: unknown;
  try { data = JSON.parse(text); } catch { return "This is not JSON."; }
  if (typeof data !== "object" || data === null || (data as Triage).format !== "parallax-triage/1") return "This is not a triage file.";
  const records = (data as Triage).records;
  if (typeof records !== "object" || records === null) return "This triage file has no records.";
  const strings = (value: unknown) => typeof value === "object" && value !== null && Object.values(value).every(one => typeof one === "string");
  for (const record of Object.values(records)) {
    const fine = typeof record === "object" && record !== null && strings(record.answers) && strings(record.explanations)
      && [record.title, record.note, record.author, record.time].every(one => typeof one === "string")
      && [null, "true", "false", "unsure"].includes(record.verdict)
      && (record.history === undefined || (Array.isArray(record.history) && record.history.every(one => [null, "true", "false", "unsure"].includes(one?.verdict) && [one.author, one.time, one.note].every(word => typeof word === "string"))));
    if (!fine) return "A record of this triage file is broken.";
  }
  return data as Triage;
}

export const writeTriage = (records: Triage["records"]): string => {
  const sorted = Object.fromEntries(Object.entries(records).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify({ format: "parallax-triage/1", records: sorted }, null, 2) + "\n";
};
