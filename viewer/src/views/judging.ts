// Judging reports in the list, one or many at once: what is selected, the verdict and the reason for it, and the way back.

import { plural } from "../lib/describe.ts";
import type { ListRow } from "../lib/list.ts";
import type { TriageRecord, Verdict } from "../lib/page.ts";
import { emptyRecord, remembered } from "../lib/triage.ts";
import { NARROW } from "./column.ts";
import { h, icon } from "./dom.ts";

const VERDICTS: readonly Verdict[] = ["true", "false", "unsure"];
const NAMES: Readonly<Record<Verdict, string>> = { true: "True", false: "False", unsure: "Unsure" };

type Change = readonly [string, TriageRecord | undefined];

/** A note with the reason that is given for many: what was written on the one report stays. */
const joined = (note: string, reason: string): string => (note === "" || reason === "" || note.split("; ").includes(reason) ? note || reason : `${note}; ${reason}`.length > 16_000 ? note : `${note}; ${reason}`);

export interface JudgingEvents {
  say(text: string): void;
  records(): Readonly<Record<string, TriageRecord>>;
  author(): string;
  saveMany(records: readonly Change[]): void;
  /** How many are selected. */
  chosen(count: number): void;
}

/** What the view that shows the reports knows of them. */
export interface Shown {
  /** The rows that are shown, or would be if their group were open. */
  rows(): readonly ListRow[];
  /** Rows like the selected ones that differ from them, and how many are alike with them. */
  left(selected: ReadonlySet<number>): { readonly odd: readonly number[]; readonly all: number };
  redraw(focus?: boolean): void;
  /** To the next report that waits. */
  onward(): void;
}

export class Judging {
  readonly bulk = h("div", { class: "bulk", hidden: true });
  /** What was just done, for as long as a finger may take it back. */
  readonly toast = h("div", { class: "toast", role: "status", hidden: true });
  readonly selected = new Set<number>();
  private shown: Shown | undefined;
  private draft: Verdict = "false";
  private reason = "";
  private toasted = 0;
  /** What was judged at once, the last at the end: each report as it was before, and as it was then. */
  private readonly undone: (readonly { readonly key: string; readonly before: TriageRecord | undefined; readonly given: TriageRecord }[])[] = [];

  constructor(private readonly events: JudgingEvents) {}

  /** Another view, or other rows: what is not among them is not selected any more. */
  show(shown: Shown): void {
    this.shown = shown;
    const there = new Set(shown.rows().map(row => row.index));
    for (const index of [...this.selected]) if (!there.has(index)) this.selected.delete(index);
    this.draw();
  }

  toggle(index: number): void {
    if (!this.selected.delete(index)) this.selected.add(index);
    this.shown?.redraw(true);
  }

  /** Selects all of these, or none where all are. */
  toggleAll(indexes: readonly number[]): void {
    const every = indexes.every(index => this.selected.has(index));
    for (const index of indexes) if (every) this.selected.delete(index); else this.selected.add(index);
    this.shown?.redraw(true);
  }

  /** Chooses a verdict: for what is selected; else for one at once, or for several to be confirmed. */
  judge(verdict: Verdict, one: number | undefined, several: readonly number[]): void {
    this.draft = verdict;
    if (this.selected.size === 0) {
      if (one !== undefined) { this.set([one]); return; }
      for (const index of several) this.selected.add(index);
    }
    this.shown?.redraw(true);
  }

  /** Gives one report a verdict. */
  judgeOne(index: number, verdict: Verdict): void { this.draft = verdict; this.set([index]); }

  /** Gives the verdict to all that are selected. */
  apply(): boolean {
    if (this.selected.size === 0) return false;
    this.set([...this.selected]);
    return true;
  }

  private set(indexes: readonly number[]): void {
    const records = this.events.records(), time = new Date().toISOString(), wanted = new Set(indexes);
    const seen = new Set<string>(), changes: Change[] = [], done: { key: string; before: TriageRecord | undefined; given: TriageRecord }[] = [];
    for (const { report } of (this.shown?.rows() ?? []).filter(row => wanted.has(row.index))) {
      if (seen.has(report.fingerprint)) continue;
      seen.add(report.fingerprint);
      const known = records[report.fingerprint];
      const given = remembered({ ...(known ?? emptyRecord(report.title)), title: report.title, answers: { ...known?.answers, verdict: this.draft }, verdict: this.draft, note: joined(known?.note ?? "", this.reason), author: this.events.author(), time });
      done.push({ key: report.fingerprint, before: known, given });
      changes.push([report.fingerprint, given]);
    }
    this.undone.push(done);
    this.selected.clear();
    this.reason = "";
    this.events.saveMany(changes);
    const told = `${plural(changes.length, "report")} ${NAMES[this.draft].toLowerCase()}`;
    this.events.say(`${told}; z takes it back`);
    this.offerUndo(told);
    this.shown?.onward();
  }

  /** On a phone there is no `z`: a button, for five seconds. */
  private offerUndo(done: string): void {
    if (!matchMedia(NARROW).matches) return;
    window.clearTimeout(this.toasted);
    const close = () => { this.toast.hidden = true; this.toast.replaceChildren(); };
    this.toast.replaceChildren(h("span", {}, done), h("button", { class: "link", onclick: () => { close(); this.undo(); } }, "Undo"));
    this.toast.hidden = false;
    this.toasted = window.setTimeout(close, 5_000);
  }

  undo(): void {
    const last = this.undone.pop();
    if (!last) { this.events.say("Nothing to take back"); return; }
    const records = this.events.records();
    // What was said since stays: only what was given then goes back to what it was before.
    const changes = last.flatMap(({ key, before, given }): Change[] => {
      const now = records[key];
      if (!now) return [];
      const { verdict: draft, ...answers } = now.answers, earlier = before?.answers["verdict"], kept = draft === given.answers["verdict"] ? earlier : draft;
      return [[key, { ...now, answers: { ...answers, ...(kept !== undefined && { verdict: kept }) }, verdict: now.verdict === given.verdict ? before?.verdict ?? null : now.verdict, note: now.note === given.note ? before?.note ?? "" : now.note, author: this.events.author() }]];
    });
    this.events.saveMany(changes);
    this.events.say(`${plural(changes.length, "verdict")} taken back`);
  }

  clear(): boolean {
    if (this.selected.size === 0) return false;
    this.selected.clear();
    this.shown?.redraw(true);
    return true;
  }

  /** Draws the bar with the verdict for what is selected. */
  draw(): void {
    const count = this.selected.size;
    this.bulk.hidden = count === 0;
    this.events.chosen(count);
    if (count === 0) { this.bulk.replaceChildren(); return; }
    const { odd, all } = this.shown?.left(this.selected) ?? { odd: [], all: count };
    const input = h("input", { type: "text", class: "field", id: "bulk-reason", maxlength: 16_000, placeholder: "Reason, kept with each", "aria-label": "Reason", value: this.reason, oninput: (event: Event) => { this.reason = (event.target as HTMLInputElement).value; } });
    this.bulk.replaceChildren(
      h("div", { class: "b1" }, h("b", { id: "bulk-count" }, `${count} of ${all} selected`),
        odd.length > 0 && h("span", { class: "dim" }, `${odd.length} that differ ${odd.length === 1 ? "is" : "are"} left out`),
        odd.length > 0 && h("button", { class: "link", onclick: () => { for (const index of odd) this.selected.add(index); this.shown?.redraw(); } }, "add them"),
        h("span", { class: "grow" }), h("button", { class: "quiet", onclick: () => this.clear() }, h("kbd", {}, "Esc"), "clear")),
      h("div", { class: "b2" },
        ...VERDICTS.map(verdict => h("button", { class: this.draft === verdict ? "vb on" : "vb", "aria-pressed": String(this.draft === verdict), onclick: () => this.judge(verdict, undefined, []) }, icon(verdict), NAMES[verdict], h("kbd", { "aria-hidden": "true" }, NAMES[verdict][0] ?? ""))),
        input, h("button", { class: "primary", "data-act": "set", title: "Ctrl Enter", onclick: () => this.apply() }, `Set for ${count}`)));
  }
}
