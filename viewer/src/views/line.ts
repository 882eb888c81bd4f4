// One line of code: badge, number, code, and what is known there.

import { badgeOf, grouped, noteOf, roleWord, type Note } from "../lib/describe.ts";
import type { LineRow, NoteRow } from "../lib/layout.ts";
import type { Frame, Path } from "../lib/page.ts";
import { accessRange, runsOf, type Emphasis, type Run } from "../lib/runs.ts";
import type { Source, SourceLine } from "../lib/source.ts";
import { h, icon } from "./dom.ts";

export interface LineContext {
  readonly path: Path;
  readonly callees: ReadonlyMap<number, Frame>;
  readonly source: Source | undefined;
  readonly depth: number;
  /** What is open under this row. */
  readonly definition: number | undefined;
  readonly current: number | undefined;
}

export const hueClass = (depth: number): string => `d${depth === 0 ? 0 : ((depth - 1) % 5) + 1}`;

export function lineElement(row: LineRow, context: LineContext): HTMLElement {
  const { path, source } = context;
  const [first] = row.steps;
  const main = first === undefined ? undefined : path.steps[first];
  const failing = row.steps.map(step => path.steps[step]).find(step => step?.x);
  const text = source?.line(row.number) ?? { text: "", tokens: "" };
  const callee = row.steps.map(step => context.callees.get(step)?.fn).find(Boolean);
  const emphasis: Emphasis = {
    ...(callee && { callee: callee.replace(/\(.*$/, "").split("::").pop() ?? callee }),
    ...(failing && { access: accessRange(text.text, failing.c) }),
  };
  const line = h("div", {
    class: ["line", main && "step", main && (failing ? "access" : `is-${main.r}`), row.matches[0] && `hit q${row.matches[0].query.hue}`].filter(Boolean).join(" "),
    "data-file": source?.name ?? "", "data-line": row.number, "data-relevant": String(row.relevant), "data-key": row.key,
    ...(main && first !== undefined && stepProps(first, path, `${source?.name ?? ""} line ${row.number}: ${text.text.trim().slice(0, 200)}`)),
  });
  const mark = h("span", { class: "mark" });
  if (main && first !== undefined) mark.append(badge(first, path));
  line.append(mark, h("span", { class: "no" }, String(row.number)), codeElement(text, row, emphasis, context));
  row.steps.forEach((step, at) => {
    const note = noteElement(step, context, at > 0);
    if (note) line.append(note);
  });
  if (first !== undefined && row.steps.includes(context.current ?? -1)) line.classList.add("current");
  return line;
}

/** A line that is folded away: its text, and no more, until it is unfolded. */
export function hiddenLineElement(number: number, source: Source | undefined): HTMLElement {
  return h("div", { class: "line", "data-file": source?.name ?? "", "data-line": number, "data-relevant": "false", hidden: true }, h("code", {}, source?.line(number).text ?? ""));
}

/** A step whose line cannot be shown: its words stand where the code would. */
export function noteRowElement(row: NoteRow, context: LineContext, file: string | undefined): HTMLElement {
  const step = context.path.steps[row.step];
  if (!step) return h("div");
  const words = step.m || (context.callees.get(row.step)?.fn ? `call ${context.callees.get(row.step)?.fn}` : roleWord(step));
  const where = step.f !== undefined && file ? `${file}:${step.l ?? "?"}` : "";
  const line = h("div", {
    class: `line step unknown ${step.x ? "access" : `is-${step.r}`}`,
    "data-file": file ?? context.source?.name ?? "", "data-line": step.l ?? "", "data-relevant": "true", "data-key": row.key,
    ...stepProps(row.step, context.path, `${file ?? context.source?.name ?? ""} ${step.l ?? ""}: ${words.slice(0, 200)}`),
  },
    h("span", { class: "mark" }, badge(row.step, context.path)),
    h("span", { class: "no" }, step.l === undefined ? "" : String(step.l)),
    h("span", { class: "words" }, words, where && h("span", { class: "dim" }, ` ${where}`)));
  const values = noteParts(noteOf({ ...step, m: "" }, context.callees.get(row.step)));
  if (values.length) line.append(h("span", { class: "note" }, values));
  if (context.current === row.step) line.classList.add("current");
  return line;
}

const stepProps = (step: number, path: Path, what: string) => {
  const data = path.steps[step];
  return { "data-index": step + 1, "data-role": data?.r ?? "note", role: "group", tabindex: -1, "aria-label": `Step ${step + 1}, ${data ? roleWord(data) : ""}, ${what}` };
};

export function badge(step: number, path: Path): HTMLElement {
  const data = path.steps[step];
  return h("b", { class: `badge ${data ? badgeOf(data) : ""}` }, String(step + 1));
}

function codeElement(text: SourceLine, row: LineRow, emphasis: Emphasis, context: LineContext): HTMLElement {
  const { runs, cut } = runsOf(text, row.matches, emphasis);
  const code = h("code");
  for (const run of runs) code.append(runElement(run, context));
  if (cut > 0) code.append(h("span", { class: "cut" }, ` … ${grouped(cut)} more characters`));
  return code;
}

export function runElement(run: Run, context: Pick<LineContext, "depth" | "definition">): Node {
  let node: Node = document.createTextNode(run.text);
  const wrap = (element: HTMLElement) => { element.append(node); node = element; };
  if (run.definition !== undefined && run.definition >= 0) {
    wrap(h("a", { class: context.definition === run.definition ? "id open" : "id", role: "button", tabindex: -1, "data-def": run.definition }));
  } else if (run.kind && run.kind !== "d") wrap(h("i", { class: run.kind }));
  if (run.callee) wrap(h("b", { class: `callee ${hueClass(context.depth + 1)}` }));
  if (run.access) wrap(h("b", { class: "access" }));
  if (run.match) wrap(h("mark", { class: `q${run.match.query.hue}`, "data-query": run.match.query.term }));
  return node;
}

function noteElement(step: number, context: LineContext, also: boolean): HTMLElement | undefined {
  const data = context.path.steps[step];
  if (!data) return undefined;
  const parts = noteParts(noteOf(data, context.callees.get(step)));
  if (!also) return parts.length ? h("span", { class: "note" }, parts) : undefined;
  // A second step on the line is a step of its own, told inline.
  return h("span", { class: `note step also ${data.x ? "access" : `is-${data.r}`}`, ...stepProps(step, context.path, data.m ?? "") }, badge(step, context.path), parts);
}

function noteParts(note: Note): Node[] {
  const parts: Node[] = [];
  if (note.condition) parts.push(h("span", { class: "cond" }, icon(note.condition.icon), note.condition.text));
  for (const [name, value] of note.values.slice(0, 12)) parts.push(h("span", { class: "val", title: `${name} = ${value}` }, h("b", {}, short(name, 40)), ` = ${short(value, 40)}`));
  if (note.failing) parts.push(h("span", { class: "acc", title: note.failing }, short(note.failing, 90)));
  if (note.message) parts.push(h("span", { class: "msg", title: note.message }, short(note.message, 90)));
  return parts;
}

const short = (text: string, most: number): string => {
  const line = text.replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};
