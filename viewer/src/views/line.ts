// One line of code: badge, number, code, and what is known there.

import { badgeOf, grouped, noteOf, ordinalOf, roleWord, spaced, spacedPair, type Note } from "../lib/describe.ts";
import type { LineRow, NoteRow } from "../lib/layout.ts";
import type { Loop } from "../lib/loops.ts";
import type { Frame, Path } from "../lib/page.ts";
import { accessRange, runsOf, type Emphasis, type Run } from "../lib/runs.ts";
import type { Source, SourceLine } from "../lib/source.ts";
import { sign, type Shown } from "../lib/values.ts";
import { h, icon } from "./dom.ts";

export interface LineContext {
  readonly path: Path;
  readonly callees: ReadonlyMap<number, Frame>;
  /** By step. */
  readonly values: readonly (readonly Shown[])[];
  readonly source: Source | undefined;
  readonly depth: number;
  /** What is open under this row. */
  readonly definition: number | undefined;
  readonly current: number | undefined;
}

export const hueClass = (depth: number): string => `d${depth === 0 ? 0 : ((depth - 1) % 5) + 1}`;

export function lineElement(row: LineRow, context: LineContext): HTMLElement {
  const { path, source } = context;
  // A step with something to say leads, wherever on the line it stands.
  const first = row.steps.find(step => !path.steps[step]?.p) ?? row.steps[0];
  const main = first === undefined ? undefined : path.steps[first];
  const failing = row.steps.map(step => path.steps[step]).find(step => step?.x);
  const text = source?.line(row.number) ?? { text: "", tokens: "" };
  const callee = row.steps.map(step => context.callees.get(step)?.fn).find(Boolean);
  const emphasis: Emphasis = {
    ...(callee && { callee: callee.replace(/\(.*$/, "").split("::").pop() ?? callee }),
    ...(failing && { access: accessRange(text.text, failing.c) }),
  };
  const line = h("div", {
    class: ["line", main && "step", main && (failing ? "access" : `is-${main.r}`), main?.p && "passing", row.matches[0] && `hit q${row.matches[0].query.hue}`].filter(Boolean).join(" "),
    "data-file": source?.name ?? "", "data-line": row.number, "data-relevant": String(row.relevant), "data-key": row.key,
    ...(main && first !== undefined && stepProps(first, path, [`${source?.name ?? ""} line ${row.number}: ${text.text.trim().slice(0, 200).replace(/;$/, "")}`, ...row.steps.filter(step => step === first || !path.steps[step]?.p).map(step => spoken(step, context))].filter(Boolean).join("; "))),
  });
  const mark = h("span", { class: "mark" });
  if (main && first !== undefined) mark.append(badge(first, path));
  line.append(mark, h("span", { class: "no" }, String(row.number)), codeElement(text, row, emphasis, context));
  if (row.loop) line.append(loopElement(row.loop));
  // What is said in passing is said once for a line; the rest is a count.
  const [said, ...more] = row.steps.filter(step => path.steps[step]?.p && path.steps[step]?.m);
  // What is said in passing comes last: there may be more than there is room for.
  const notes: HTMLElement[] = [], passing: HTMLElement[] = [];
  row.steps.forEach((step, at) => {
    if (more.includes(step)) return;
    // What a later step of the line tells as the value before needs no place of its own.
    const later = row.steps.slice(at + 1).flatMap(other => context.values[other] ?? []);
    const values = (context.values[step] ?? []).filter(value => !later.some(other => other.name === value.name && other.old === value.value));
    const note = noteElement(step, values, context, step !== first, text.text);
    if (note) (path.steps[step]?.p ? passing : notes).push(note);
    if (note && step === said && more.length) note.append(h("span", { class: "dim", title: more.map(other => path.steps[other]?.m).join("\n") }, `and ${more.length} more`));
  });
  if (notes.length + passing.length) line.append(h("span", { class: "notes" }, notes, passing));
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
    ...stepProps(row.step, context.path, `${file ?? context.source?.name ?? ""} ${step.l ?? ""}: ${words.slice(0, 200)}${[spoken(row.step, context)].filter(said => said && said !== words).map(said => `; ${said}`).join("")}`),
  },
    h("span", { class: "mark" }, badge(row.step, context.path)),
    h("span", { class: "no" }, step.l === undefined ? "" : String(step.l)),
    h("span", { class: "words" }, words, where && h("span", { class: "dim" }, ` ${where}`)));
  const values = noteParts(noteOf({ ...step, m: "" }, context.callees.get(row.step), context.values[row.step] ?? []), row.step);
  if (values.length) line.append(h("span", { class: "note" }, values));
  if (context.current === row.step) line.classList.add("current");
  return line;
}

/** What is known at a step, as it is read out: the outcome, the access, the tool's words, the values. */
function spoken(step: number, context: LineContext): string {
  const data = context.path.steps[step];
  if (!data) return "";
  const note = noteOf(data, context.callees.get(step), context.values[step] ?? []);
  const values = note.values.filter(value => !value.same).slice(0, 12).map(({ name, value, old }) => (old === undefined ? `${name}${sign(value)}${value}` : `${name} was ${old}, is ${value}`));
  return [note.condition?.text, note.failing, note.message, ...values].filter(Boolean).map(words => String(words).slice(0, 300)).join("; ");
}

const stepProps = (step: number, path: Path, what: string) => {
  const data = path.steps[step];
  return { "data-index": step + 1, "data-role": data?.r ?? "note", role: "group", tabindex: -1, "aria-label": data?.p ? `Passed: ${what}` : `Step ${ordinalOf(path, step)}, ${data ? roleWord(data) : ""}, ${what}` };
};

export function badge(step: number, path: Path): HTMLElement {
  const data = path.steps[step];
  return h("b", { class: `badge ${data ? badgeOf(data) : ""}` }, data?.p ? "" : String(ordinalOf(path, step)));
}

/** How often a loop was gone through, and which of it is drawn. */
function loopElement(loop: Loop): HTMLElement {
  const pips = loop.count <= 8 ? h("span", { class: "pips", "aria-hidden": "true" }, Array.from({ length: loop.count }, (_, at) => h("i", { class: loop.shown === "all" || at === loop.shown ? "on" : "" }))) : null;
  return h("button", { class: "loop", "data-loop": loop.key, "aria-expanded": String(loop.open), title: `${loop.open ? "Close the list of iterations" : "Choose an iteration"} (o)` },
    icon("loop"), h("b", {}, `\u00d7${grouped(loop.count)}`), pips, loop.shown === "all" ? "all shown" : loop.shown === loop.count - 1 ? "last shown" : `${grouped(loop.shown + 1)} shown`, icon(loop.open ? "up" : "down"));
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

function noteElement(step: number, values: readonly Shown[], context: LineContext, also: boolean, code: string): HTMLElement | undefined {
  const data = context.path.steps[step];
  if (!data) return undefined;
  const parts = noteParts(noteOf(data, context.callees.get(step), values), step, code);
  if (also && data.p && parts.length === 0) return undefined;
  if (!also) return parts.length ? h("span", { class: "note" }, parts) : undefined;
  // A second step on the line is a step of its own, told inline.
  return h("span", { class: `note step also ${data.x ? "access" : `is-${data.r}`}`, ...stepProps(step, context.path, spoken(step, context)) }, badge(step, context.path), parts);
}

function noteParts(note: Note, step: number, code = ""): Node[] {
  const parts: Node[] = [];
  if (note.condition) parts.push(h("span", { class: "cond" }, icon(note.condition.icon), note.condition.text));
  const shown = note.values.slice(0, 12), news = shown.filter(value => !value.same);
  if (note.failing) parts.push(h("span", { class: "acc", title: note.failing }, short(note.failing, 90)));
  if (note.message) parts.push(h("span", { class: "msg", title: note.message }, short(note.message, 90)));
  // What the line sets needs no name beside it.
  const plain = news.length === 1 && news[0] && assigns(code, news[0].name) ? news[0] : undefined;
  for (const value of shown) parts.push(valueElement(value, step, value === plain));
  if (note.values.length > shown.length) parts.push(h("span", { class: "dim" }, `${note.values.length - shown.length} more values`));
  return parts;
}

/** Whether a line of code does nothing but set one name. */
const assigns = (code: string, name: string): boolean => {
  const [line, by] = [code.trim(), /^(?:\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)/];
  return line.startsWith(name) ? by.test(line.slice(name.length)) : /^(?:\+\+|--)/.test(line) && line.slice(2).startsWith(name);
};

/** A value: what it was, what it is. A click leads to where it was set before. */
function valueElement({ name, value, old, same }: Shown, step: number, plain: boolean): HTMLElement {
  const title = old === undefined ? `${name}${sign(value)}${value}` : `${name} was ${old}, is ${value}`;
  const [before, now] = old === undefined ? ["", spaced(value)] : spacedPair(old, value);
  return h("button", { class: `val${old === undefined ? "" : " chg"}${same ? " same" : ""}`, title: `${title}; go to where it was set (w)`, tabindex: -1, "data-name": name, "data-of": step, ...(plain && { "aria-label": title }) },
    !plain && h("b", {}, short(name, 40)), !plain && (old === undefined ? sign(value) : " "), ...(old === undefined ? [h("u", {}, short(now, 40))] : [h("s", {}, short(before, 20)), icon("to"), h("u", {}, short(now, 30))]));
}

const short = (text: string, most: number): string => {
  const line = text.replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};
