// The checklist: tabs of questions, an explanation per tab, a verdict with a note and a name, and the way on.

import { applies, isDone, optionsOf, tabsOf, type Tab } from "../lib/checklist.ts";
import { plural } from "../lib/describe.ts";
import type { Checklist, QuestionTemplate, Report, TriageRecord, Verdict } from "../lib/page.ts";
import { fieldName } from "../lib/answers.ts";
import { emptyRecord, remembered, STATE_NAMES } from "../lib/triage.ts";
import { h, icon, prose } from "./dom.ts";

export interface ChecklistEvents {
  /** Something was answered; `submitted` when the verdict is given. Gives the record as it is kept. */
  save(record: TriageRecord, submitted: boolean): TriageRecord;
  /** Records of before that may be about the report, by their keys. */
  perhaps(): readonly { readonly key: string; readonly name: string; readonly record: TriageRecord }[];
  /** Says that the report is the one that such a record is about. */
  confirm(key: string): void;
  /** Settles a question that was answered differently. */
  settle(field: string, value: string): void;
  /** The record as it is known now. */
  known(): TriageRecord | undefined;
  /** Says what became of an answer. */
  say(text: string): void;
  author(): string;
  setAuthor(name: string): void;
  /** How many tabs are answered, in words. */
  answered(words: string): void;
}

const VERDICTS: readonly Verdict[] = ["true", "false", "unsure"];
/** Where the verdict that is chosen but not yet submitted is kept. */
const DRAFT = "verdict";
/** Letters that a text may have: four bytes each fit into what a record holds. */
const MOST = 16_000;

export class ChecklistCard {
  readonly element: HTMLElement;
  private report: Report | undefined;
  private template: Checklist | undefined;
  private tabs: Tab[] = [];
  private tab = 0;
  private record: TriageRecord = emptyRecord("");

  constructor(private readonly events: ChecklistEvents) {
    this.element = h("section", { class: "card checklist", "aria-labelledby": "checklist-heading" });
  }

  show(report: Report, template: Checklist | undefined, record: TriageRecord | undefined): void {
    if (report !== this.report) this.tab = 0;
    this.report = report;
    this.template = template;
    this.tabs = template ? tabsOf(template, report) : [];
    this.tab = Math.min(this.tab, Math.max(0, this.tabs.length - 1));
    this.record = record ?? emptyRecord(report.title);
    this.draw();
  }

  /** To the questions; whether there are any. */
  focus(): boolean {
    const tab = this.element.querySelector<HTMLElement>("[role=tab][aria-selected=true]");
    tab?.focus();
    return !!tab;
  }

  openTab(at: number): void { if (this.tabs[at]) { this.tab = at; this.draw(); } }

  choose(verdict: Verdict): void {
    // The verdict that holds already is no new answer.
    if (this.record.verdict === verdict && this.record.answers[DRAFT] === verdict) { this.events.say(`It is judged ${STATE_NAMES[verdict].toLowerCase()} already`); return; }
    this.change({ answers: { ...this.record.answers, [DRAFT]: verdict } });
  }

  submit(): boolean {
    const verdict = this.record.answers[DRAFT] as Verdict | undefined;
    if (!verdict || this.tabs.some(tab => !isDone(tab, this.record.answers))) return false;
    this.change({ verdict, history: remembered({ ...this.record, verdict, author: this.events.author(), time: new Date().toISOString() }).history ?? [] }, true);
    return true;
  }

  private change(change: Partial<TriageRecord>, submitted = false): void {
    const focused = document.activeElement instanceof HTMLElement && this.element.contains(document.activeElement) ? document.activeElement.id : "";
    // A new answer reopens what was judged: the verdict holds once it is submitted again.
    const reopened = submitted ? null : this.record.verdict;
    this.record = this.events.save({ ...this.record, verdict: null, ...change, title: this.report?.title ?? "", author: this.events.author(), time: new Date().toISOString() }, submitted);
    if (submitted) return;
    if (reopened) this.events.say(`No longer judged ${STATE_NAMES[reopened].toLowerCase()}: submit the verdict again`);
    this.draw();
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  /** Keeps what is being typed; drawing anew would take the field away under the user's hands. */
  private typed(change: Partial<TriageRecord>): void {
    this.record = this.events.save({ ...this.record, ...change, title: this.report?.title ?? "", author: this.events.author(), time: new Date().toISOString() }, false);
  }

  /** Shows what is known now; a field that is being typed in stays as it is. */
  refresh(record: TriageRecord | undefined): void {
    if (!this.report) return;
    const field = document.activeElement;
    if (field instanceof HTMLElement && field.matches("input[type=text], textarea") && this.element.contains(field)) {
      const { base } = this.record;
      // What is typed next is an answer to what stood when it was begun.
      this.record = { ...(record ?? emptyRecord(this.report.title)), ...(base && { base }) };
      this.stale = true;
      return;
    }
    this.record = record ?? emptyRecord(this.report.title);
    this.draw();
  }
  private stale = false;

  /** The first record of before that may be about the report is. */
  confirmFirst(): boolean {
    const [first] = this.events.perhaps();
    if (first) this.events.confirm(first.key);
    return !!first;
  }

  /** What was said of reports of before that may be this one, and questions that were answered differently. */
  private asked(): HTMLElement[] {
    const when = ({ author, time }: { author: string; time: string }) => `${author || "somebody"}, ${time.slice(0, 10)} ${time.slice(11, 16)}`;
    const perhaps = this.events.perhaps().map(({ key, name, record }, at) => h("div", { class: "asked perhaps", role: "group", "aria-label": `Perhaps ${name} of before` },
      h("p", {}, "Perhaps ", h("b", {}, name), ` of before: ${record.verdict ? STATE_NAMES[record.verdict].toLowerCase() : "started"}, ${when(record)}`),
      record.note && h("p", { class: "dim" }, record.note),
      h("button", { class: "ghost", "data-act": "confirm", onclick: () => this.events.confirm(key) }, `It is ${name}`, at === 0 && h("kbd", { "aria-hidden": "true" }, "="))));
    const differ = (this.record.conflicts ?? []).map(({ field, answers }) => h("div", { class: "asked conflict", role: "group", "aria-label": `Different: ${fieldName(field)}` },
      h("p", {}, `Answered differently: ${fieldName(field)}`),
      answers.map(answer => h("p", {}, h("button", { class: "ghost", "data-act": "settle", onclick: () => this.events.settle(field, answer.value) }, `Keep: ${answer.value || "nothing"}`), h("span", { class: "dim" }, ` ${when(answer)}`)))));
    return [...perhaps, ...differ];
  }

  /** A field was left: what came in meanwhile is shown. */
  private left(): void {
    if (!this.stale) return;
    this.stale = false;
    setTimeout(() => this.refresh(this.events.known()));
  }

  private draw(): void {
    const { answers } = this.record;
    const done = this.tabs.filter(tab => isDone(tab, answers)).length, left = this.tabs.length - done;
    const draft = answers[DRAFT];
    const ready = left === 0 && !!draft;
    const scroll = this.element.scrollTop;
    this.events.answered(`${done} of ${this.tabs.length}`);
    this.element.replaceChildren(
      h("header", {}, h("h2", { id: "checklist-heading" }, "Checklist"), h("span", { class: "dim", id: "answered" }, `${done} of ${this.tabs.length} answered`)),
      ...this.asked(),
      h("div", { class: "tabs", role: "tablist", "aria-label": "Checklist" }, this.tabs.map((tab, at) => this.tabButton(tab, at))),
      ...this.tabs.map((tab, at) => this.panel(tab, at)),
      h("footer", { class: "verdict" },
        h("div", { class: "v-row", role: "radiogroup", "aria-label": "Verdict" }, VERDICTS.map(verdict =>
          h("label", {}, radio("verdict", verdict, draft === verdict, false, () => this.choose(verdict)),
            h("span", {}, icon(verdict), this.template?.verdicts[verdict] ?? verdict, h("kbd", { "aria-hidden": "true" }, verdict[0]?.toUpperCase() ?? ""))))),
        h("div", { class: "v-note" },
          h("input", { type: "text", id: "note", class: "field", maxlength: MOST, placeholder: "Note", "aria-label": "Note on the verdict", value: this.record.note,
            oninput: (event: Event) => this.typed({ note: valueOf(event) }), onblur: () => this.left() }),
          h("input", { type: "text", id: "author", class: "field", maxlength: 250, placeholder: "Your name", "aria-label": "Triaged by", value: this.events.author(), oninput: (event: Event) => this.events.setAuthor(valueOf(event)), onblur: () => this.left() })),
        h("div", { class: "v-submit" },
          h("span", { class: "dim", id: "why" }, this.record.verdict ? this.judged() : left > 0 ? `${plural(left, "tab")} to go` : draft ? "Ready" : "Choose a verdict"),
          h("button", { class: "primary", "data-act": "submit", ...(!ready && { disabled: true }), onclick: () => this.submit() }, "Submit and next"))));
    this.element.scrollTop = scroll;
  }

  private judged(): string {
    const { author, time } = this.record;
    return `${author || "Somebody"}, ${time.slice(0, 10)} ${time.slice(11, 16)}`;
  }

  private tabButton(tab: Tab, at: number): HTMLElement {
    const done = isDone(tab, this.record.answers), selected = at === this.tab;
    return h("button", {
      role: "tab", id: `tab-${at}`, class: done ? "done" : "", "aria-controls": `panel-${at}`, "aria-selected": String(selected), tabindex: selected ? 0 : -1,
      "aria-label": `${tab.title}, ${done ? "answered" : "not answered yet"}`,
      onclick: () => { this.openTab(at); this.focus(); },
      onkeydown: (event: KeyboardEvent) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (by) { this.openTab((at + by + this.tabs.length) % this.tabs.length); this.focus(); event.preventDefault(); event.stopPropagation(); }
      },
    }, tab.title);
  }

  private panel(tab: Tab, at: number): HTMLElement {
    const panel = h("div", { class: "tabpanel", role: "tabpanel", id: `panel-${at}`, "aria-labelledby": `tab-${at}`, "data-title": tab.title, ...(at !== this.tab && { hidden: true }) });
    let group: string | undefined;
    for (const question of tab.questions) {
      const active = applies(tab, question, this.record.answers);
      if (question.group !== undefined && question.group !== group) {
        group = question.group;
        const reachable = tab.questions.some(other => other.group === group && applies(tab, other, this.record.answers));
        panel.append(h("h3", { class: "group", "aria-disabled": String(!reachable) }, group, !reachable && h("span", { class: "dim" }, "does not apply yet")));
      }
      if (question.group !== undefined && !tab.questions.some(other => other.group === question.group && applies(tab, other, this.record.answers))) continue;
      panel.append(this.question(tab, question, active));
    }
    if (tab.explain !== undefined) {
      const explained = (event: Event) => ({ explanations: { ...this.record.explanations, [tab.id]: valueOf(event) } });
      panel.append(h("label", { class: "explain" }, "Explain", h("textarea", {
        id: `explain-${tab.id}`, rows: 2, placeholder: tab.explain,
        oninput: (event: Event) => this.typed(explained(event)), onblur: () => this.left(), maxlength: MOST,
      }, this.record.explanations[tab.id] ?? "")));
    }
    return panel;
  }

  private question(tab: Tab, question: QuestionTemplate, active: boolean): HTMLElement {
    const name = `${tab.id}.${question.id}`, options = optionsOf(question);
    return h("div", { class: question.options ? "q wide" : "q", "data-question": name, role: "radiogroup", "aria-label": question.text, "aria-disabled": String(!active) },
      h("p", {}, prose(question.text)),
      h("span", { class: "yn" }, options.map(([value, label]) =>
        h("label", {}, radio(name, value, active && this.record.answers[name] === value, !active, () => this.change({ answers: { ...this.record.answers, [name]: value } })), h("span", {}, label)))));
  }
}

const valueOf = (event: Event): string => (event.target as HTMLInputElement | HTMLTextAreaElement).value;

function radio(name: string, value: string, checked: boolean, disabled: boolean, choose: () => void): HTMLInputElement {
  const input = h("input", { type: "radio", name, value, id: `${name}-${value}`, onchange: choose, ...(disabled && { disabled: true }) });
  input.checked = checked;
  return input;
}
