// Answers as they are kept: one entry for each, never taken out again, so that putting two sets together is their union.
// The same rules as `crates/reports/view/src/triage/answers.rs`.

import type { Answer, Conflict, Judgement, StoredRecord, TriageRecord, Verdict } from "./page.ts";

const ANSWER = "answer:", EXPLAIN = "explain:";
export const NOTE = "note", VERDICT = "verdict";
/** The verdict that is chosen but not yet submitted. */
const DRAFT = `${ANSWER}verdict`;
/** A text may be as long as this, in bytes. */
export const LONGEST = 64 << 10;

const order = (a: Answer, b: Answer): number => (a.time < b.time ? -1 : a.time > b.time ? 1 : a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

function replaceAlso(one: Readonly<Record<string, number>> | undefined, other: Readonly<Record<string, number>> | undefined): Record<string, number> {
  const all: Record<string, number> = { ...one };
  for (const [id, revision] of Object.entries(other ?? {})) all[id] = Math.max(revision, all[id] ?? revision);
  return all;
}

function newer(a: Answer, b: Answer): Answer {
  const by = (a.revision ?? 0) - (b.revision ?? 0) || (a.time < b.time ? -1 : a.time > b.time ? 1 : 0) || (a.value < b.value ? -1 : 1);
  const replaces = replaceAlso(a.replaces, b.replaces);
  return { ...(by > 0 ? a : b), ...(Object.keys(replaces).length > 0 && { replaces }) };
}

/** Everything that two copies of a record say. */
export function union(one: StoredRecord | undefined, other: Partial<StoredRecord>): StoredRecord {
  const answers = new Map((one?.answers ?? []).map(answer => [answer.id, answer]));
  for (const answer of other.answers ?? []) {
    const known = answers.get(answer.id);
    answers.set(answer.id, known ? newer(known, answer) : answer);
  }
  const later = one === undefined || (other.seen ?? 0) > (one.seen ?? 0) ? { ...one, ...other } : { ...other, ...one };
  const was = [...new Set([...(one?.was ?? []), ...(other.was ?? [])])].sort();
  return { ...later, report: later.report ?? "", title: later.title ?? "", ...(was.length > 0 && { was }), answers: [...answers.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** The answers to a question that no other replaces, the latest last. */
export function standing(answers: readonly Answer[], field: string): Answer[] {
  const all = answers.filter(answer => answer.field === field);
  const replaced = all.reduce<Record<string, number>>((sum, answer) => replaceAlso(sum, answer.replaces), {});
  return all.filter(answer => !((replaced[answer.id] ?? -1) >= (answer.revision ?? 0))).sort(order);
}

const isVerdict = (word: string): word is Verdict => word === "true" || word === "false" || word === "unsure";

/** What a record says: of each question the answer that stands, and where several stand, all of them beside the latest. */
export function viewOf(stored: StoredRecord | undefined, title = ""): TriageRecord {
  const all = stored?.answers ?? [];
  const answers: Record<string, string> = {}, explanations: Record<string, string> = {}, values: Record<string, string> = {}, heads: Record<string, Record<string, number>> = {};
  const conflicts: Conflict[] = [];
  let verdict: Verdict | null = null, note = "", author = "", time = "";
  for (const field of new Set(all.map(answer => answer.field))) {
    const stand = standing(all, field), last = stand[stand.length - 1];
    if (!last) continue;
    heads[field] = Object.fromEntries(stand.map(answer => [answer.id, answer.revision ?? 0]));
    const differ = new Set(stand.map(answer => answer.value)).size > 1;
    // A verdict that is chosen and not yet given is nobody's answer.
    if (differ && field !== DRAFT) conflicts.push({ field, answers: stand });
    values[field] = last.value;
    if (field === NOTE) note = last.value;
    else if (field.startsWith(EXPLAIN)) explanations[field.slice(EXPLAIN.length)] = last.value;
    else if (field.startsWith(ANSWER)) { if (last.value) answers[field.slice(ANSWER.length)] = last.value; }
    // Of verdicts that differ none holds.
    else if (field === VERDICT && !differ && isVerdict(last.value)) verdict = last.value;
    if (field === VERDICT && differ) values[field] = "";
    if (last.time > time) { time = last.time; author = last.author; }
  }
  const history: Judgement[] = all.filter(answer => answer.field === VERDICT).sort(order)
    .map(answer => ({ verdict: isVerdict(answer.value) ? answer.value : null, author: answer.author, time: answer.time, note: answer.note ?? "" }));
  return { title: stored?.title || title, answers, explanations, verdict, note, author, time, history, conflicts, base: { values, heads } };
}

/** A page that gives answers. */
export interface Giver { readonly page: string; next(): number }

/** What must be added so that the record says what `wanted` does, which was made from what `wanted.base` knew. */
export function changes(stored: StoredRecord | undefined, wanted: TriageRecord, giver: Giver): Answer[] {
  const { values, heads } = wanted.base ?? { values: {}, heads: {} };
  const fields = new Map<string, string>([[NOTE, wanted.note], [VERDICT, wanted.verdict ?? ""]]);
  for (const [name, value] of Object.entries(wanted.answers)) fields.set(ANSWER + name, value);
  for (const [name, value] of Object.entries(wanted.explanations)) fields.set(EXPLAIN + name, value);
  for (const field of Object.keys(values)) if (!fields.has(field)) fields.set(field, "");
  const judged = (wanted.history ?? []).length > (stored?.answers ?? []).filter(answer => answer.field === VERDICT).length;
  const out: Answer[] = [];
  for (const [field, value] of fields) {
    const again = field === VERDICT && judged && wanted.verdict !== null;
    if (value === (values[field] ?? "") && !again) continue;
    const known = heads[field] ?? {}, [only, ...others] = Object.keys(known);
    const own = only !== undefined && others.length === 0 && only.startsWith(`${giver.page}.`) && field !== VERDICT
      ? standing(stored?.answers ?? [], field).find(answer => answer.id === only) : undefined;
    const common = { field, value, author: wanted.author, time: wanted.time };
    // A text that is being typed stays one answer, as long as nobody else has replaced it.
    if (own) out.push({ ...own, ...common, revision: (own.revision ?? 0) + 1 });
    else out.push({ id: `${giver.page}.${giver.next()}`, ...common, ...(field === VERDICT && { note: wanted.note }), ...(Object.keys(known).length > 0 && { replaces: known }) });
  }
  return out;
}

/** The answers that settle a question on which several stand. */
export function settle(stored: StoredRecord, field: string, value: string, author: string, time: string, giver: Giver): Answer[] {
  return (field === VERDICT ? [VERDICT, DRAFT] : [field]).map(field => {
    const replaces = Object.fromEntries(standing(stored.answers ?? [], field).map(answer => [answer.id, answer.revision ?? 0]));
    return { id: `${giver.page}.${giver.next()}`, field, value, author, time, replaces };
  });
}

/** How a question is called where its answers differ. */
export function fieldName(field: string): string {
  if (field === VERDICT) return "verdict";
  if (field === NOTE) return "note";
  return field.startsWith(EXPLAIN) ? `explanation (${field.slice(EXPLAIN.length)})` : `answer to ${field.slice(ANSWER.length)}`;
}
