// The state of reports: what the triage file, the browser's own memory and the tools' suppressions say together.

import { LONGEST } from "./answers.ts";
import type { Answer, Judgement, Report, StoredRecord, Triage, TriageRecord } from "./page.ts";

export type State = "open" | "started" | "true" | "false" | "unsure";
export const STATES: readonly State[] = ["open", "started", "true", "false", "unsure"];
export const STATE_NAMES: Readonly<Record<State, string>> = { open: "Open", started: "Started", true: "True", false: "False", unsure: "Unsure" };

export const emptyRecord = (title: string): TriageRecord =>
  ({ title, answers: {}, explanations: {}, verdict: null, note: "", author: "", time: "" });

export function stateOf(report: Report, record: TriageRecord | undefined): State {
  if (record?.verdict) return record.verdict;
  const begun = record && (Object.keys(record.answers).length > 0 || Object.values(record.explanations).some(Boolean) || record.note !== "" || (record.conflicts ?? []).length > 0);
  if (begun) return "started";
  return report.suppressed === undefined ? "open" : "false";
}

export const isTriaged = (state: State): boolean => state === "true" || state === "false" || state === "unsure";

/** A record with its verdict put down in its history. */
export function remembered(record: TriageRecord): TriageRecord {
  const { verdict, author, time, note } = record;
  return { ...record, history: [...(record.history ?? []), { verdict, author, time, note }] };
}

/** Every verdict a report had, the oldest first. */
export const historyOf = (record: TriageRecord | undefined): readonly Judgement[] => record?.history ?? [];

const bytes = (text: string): number => new TextEncoder().encode(text).length;
const isText = (value: unknown, most = LONGEST): value is string => typeof value === "string" && bytes(value) <= most;
const isCounts = (value: unknown): boolean => value === undefined || (typeof value === "object" && value !== null && Object.values(value).every(one => Number.isInteger(one)));

function isAnswer(value: unknown): value is Answer {
  if (typeof value !== "object" || value === null) return false;
  const { id, field, value: said, author, time, note, revision, replaces } = value as Record<string, unknown>;
  return [id, field, author, time].every(name => isText(name, 1024)) && isText(said) && (note === undefined || isText(note))
    && (revision === undefined || Number.isInteger(revision)) && isCounts(replaces);
}

/** Whether something is a record of a triage file, or a part of one. */
export function isRecord(value: unknown): value is Partial<StoredRecord> {
  if (typeof value !== "object" || value === null) return false;
  const { answers = [], was = [] } = value as { answers?: unknown; was?: unknown };
  return Array.isArray(answers) && answers.every(isAnswer) && Array.isArray(was) && was.every(one => isText(one, 1024));
}

/** A triage file's text with what of it cannot be read by name, or why it is none. */
export function readTriage(text: string): { readonly records: Record<string, Partial<StoredRecord>>; readonly broken: readonly string[] } | string {
  let data: unknown;
  try { data = JSON.parse(text); } catch { return "This is not JSON."; }
  const format = typeof data === "object" && data !== null ? (data as { format?: unknown }).format : undefined;
  if (format === "parallax-triage/1") return "This triage file is of an earlier form: parallax view --triage FILE takes it over.";
  if (format !== "parallax-triage/2") return "This is not a triage file.";
  const { records } = data as { records?: unknown };
  if (typeof records !== "object" || records === null) return "This triage file has no records.";
  const good: Record<string, Partial<StoredRecord>> = {}, broken: string[] = [];
  for (const [key, record] of Object.entries(records)) {
    if (isRecord(record)) good[key] = record;
    else broken.push(String((record as { report?: unknown } | null)?.report ?? key));
  }
  return { records: good, broken };
}

/** The text of a triage file. */
export const writeTriage = (records: Readonly<Record<string, StoredRecord>>, unreadable?: Triage["unreadable"]): string => {
  const sorted = Object.fromEntries(Object.entries(records).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify({ format: "parallax-triage/2", records: sorted, ...(unreadable && { unreadable }) }, null, 2) + "\n";
};
