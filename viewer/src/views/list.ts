// The list of all reports: state, filter, sort, progress.

import { depthOf, plural } from "../lib/describe.ts";
import { familiesOf, GROUPINGS, MANY, type Family, type Group, type Grouping, type Member } from "../lib/groups.ts";
import { filtered, noFilter, progress, rowsFor, type Filter, type ListRow, type SortKey } from "../lib/list.ts";
import type { Page, TriageRecord, Verdict } from "../lib/page.ts";
import type { Source } from "../lib/source.ts";
import { isTriaged, STATE_NAMES, STATES, type State } from "../lib/triage.ts";
import { NARROW } from "./column.ts";
import { h, icon, stairs, titled } from "./dom.ts";
import { GroupedList } from "./groups.ts";
import { Judging } from "./judging.ts";
import { Pane } from "./pane.ts";
import { Windowed } from "./windowed.ts";

const ROW = 39;
/** So many notes are shown at first. */
const NOTES = 5;
export const SEVERITIES = ["", "Low", "Medium", "High"] as const;
const COLUMNS: readonly (readonly [string, SortKey | undefined, string?])[] = [
  ["State", "state"], ["Report", "id"], ["", undefined], ["Location", "place"], ["Rule", "rule"], ["Severity", "severity"],
  ["Paths", undefined], ["Files", undefined, "num"], ["Tool", "tool"], ["Triaged", undefined],
];

export interface ListEvents {
  open(index: number, path?: number, step?: number): void;
  say(text: string): void;
  records(): Readonly<Record<string, TriageRecord>>;
  download(): void;
  /** Answers of an earlier version in this browser, if there are any, and as a file. */
  earlier(): boolean;
  saveEarlier(): void;
  /** How many reports that are not on the page have answers in this browser. */
  elsewhere(): number;
  upload(file: File): void;
  author(): string;
  saveMany(records: readonly (readonly [string, TriageRecord | undefined])[]): void;
  /** What was said of reports of before that a report may be. */
  perhaps(index: number): readonly { readonly name: string; readonly record: TriageRecord }[];
  /** Says of reports that they are what they may be; of how many. */
  confirm(indexes: readonly number[]): number;
}

export class ListView {
  readonly element: HTMLElement;
  private readonly inner: HTMLElement;
  private readonly input: HTMLInputElement;
  private list: Windowed | undefined;
  private filter: Filter = noFilter;
  private selected = 0;
  rows: ListRow[] = [];
  private grouping: Grouping;
  private readonly groups: GroupedList;
  readonly judging: Judging;
  readonly pane: Pane;

  constructor(private readonly page: Page, private readonly sources: readonly Source[], private readonly events: ListEvents) {
    this.inner = h("div", { class: "list-inner" });
    this.grouping = page.reports.length >= MANY || matchMedia(NARROW).matches ? "rule" : "none";
    this.pane = new Pane(page, sources, { open: (index, path, step) => events.open(index, path, step), pick: index => this.groups.pickReport(index, true), records: () => events.records(), say: text => events.say(text) });
    this.judging = new Judging({
      say: text => events.say(text), records: () => events.records(), author: () => events.author(), chosen: count => this.drawChosen(count),
      saveMany: records => { events.saveMany(records); this.draw(); },
    });
    this.groups = new GroupedList({
      open: index => events.open(index), say: text => events.say(text), current: (member, group, family) => this.tell(member, group, family), perhaps: index => perhapsElement(events.perhaps(index)),
    }, this.judging);
    this.input = h("input", { id: "filter", type: "text", spellcheck: "false", autocomplete: "off", placeholder: "Filter: words, rule:, file:, is:new", "aria-label": "Filter reports",
      oninput: () => this.set({ text: this.input.value }) });
    this.element = h("main", { class: "list-view", "aria-labelledby": "list-heading" }, this.inner);
  }

  get grouped(): GroupedList | undefined { return this.grouping === "none" ? undefined : this.groups; }

  group(by: Grouping): void {
    // The grouped list has fewer states to choose from.
    if ((by === "none") !== (this.grouping === "none")) this.filter = { ...this.filter, state: "all" };
    this.grouping = by;
    this.draw();
    this.inner.querySelector<HTMLElement>(`[data-group="${by}"]`)?.focus();
  }

  private meter: HTMLElement | undefined;
  /** Shows in the meter how much is about to be judged. */
  private drawChosen(count: number): void {
    const open = this.meter?.querySelector<HTMLElement>("i.open");
    this.meter?.querySelector("i.sel")?.remove();
    if (!open || count === 0) return;
    const part = h("i", { class: "sel", title: `Selected: ${count}` });
    part.style.flex = String(count);
    open.before(part);
  }

  /** The selected reports, or the current one, are what they may be. */
  confirm(): void {
    const chosen = this.grouped ? this.grouped.chosen() : this.judging.selected.size > 0 ? [...this.judging.selected] : [this.rows[this.selected]?.index ?? -1];
    const done = this.events.confirm(chosen);
    this.events.say(done > 0 ? `${plural(done, "report")} confirmed to be of before` : "No report of before looks like this one");
  }

  togglePane(): void {
    if (this.grouped) this.element.classList.toggle("no-pane"); else this.beside(() => undefined);
  }

  private told: Member | undefined;
  private tell(member: Member | undefined, group: Group | undefined, family: Family | undefined): void {
    if (member === this.told && member) return;
    this.told = member;
    this.pane.show(member, group, family);
  }

  /** All rows, whatever the filters. */
  all(): ListRow[] { return rowsFor(this.page.reports, this.events.records()); }

  set(change: Partial<Filter>): void {
    this.filter = { ...this.filter, ...change };
    this.draw();
  }

  clear(): void {
    if (this.judging.clear()) return;
    const { state, severity, text, baseline } = this.filter;
    if (state === "all" && severity === 0 && text === "" && baseline === "all") { this.events.say("Nothing is selected or filtered"); return; }
    this.input.value = "";
    this.set({ state: "all", severity: 0, text: "", baseline: "all" });
  }

  /** What stands where no row does: nothing was found, or the filters hide it. */
  private nothing(total: number): HTMLElement {
    if (total === 0) return h("p", { class: "none dim" }, "The analysers found nothing.");
    return h("p", { class: "none dim" }, "No report matches these filters. ", h("button", { class: "link", onclick: () => this.clear() }, "Clear them"));
  }

  focusFilter(): void { this.input.focus(); }

  /** The report `by` rows away in the list as it is filtered and sorted; undefined at its ends. */
  neighbour(index: number, by: number): number | undefined {
    const rows = filtered(this.all(), this.filter), at = rows.findIndex(row => row.report === this.page.reports[index]);
    return at < 0 ? rows[0]?.index : rows[at + by]?.index;
  }

  draw(): void {
    const all = this.all(), { counts, triaged, total } = progress(all);
    this.rows = filtered(all, this.filter);
    const focused = document.activeElement === this.input;
    const made = new Date(this.page.made * 1000).toISOString();
    const tools = new Set(this.page.reports.map(report => report.tool).filter(Boolean)).size;
    const body = h("tbody");
    const segment = (label: string, buttons: readonly HTMLElement[]) => h("span", { class: "seg", role: "group", "aria-label": label }, buttons);
    const toggle = (text: string, count: number | undefined, on: boolean, data: Record<string, string>, act: () => void) =>
      h("button", { "aria-pressed": String(on), ...data, onclick: () => { act(); this.inner.querySelector<HTMLElement>(`.filters [${Object.keys(data)[0]}="${Object.values(data)[0]}"]`)?.focus(); } }, text, count !== undefined && h("b", {}, String(count)));
    const { grouped } = this;
    const states: readonly (readonly [Filter["state"], string, number])[] = grouped
      ? [["all", "All", total], ["waiting", "Open", total - triaged], ["triaged", "Triaged", triaged]]
      : [["all", "All", total], ...STATES.map(state => [state, STATE_NAMES[state], counts[state]] as const)];
    const meter = h("div", { class: "meter", role: "img", "aria-label": `${triaged} of ${total} triaged` });
    this.meter = meter;
    for (const state of ["true", "false", "unsure", "started", "open"] as const) {
      if (!counts[state]) continue;
      const part = h("i", { class: state, title: `${STATE_NAMES[state]}: ${counts[state]}` });
      part.style.flex = String(counts[state]);
      meter.append(part);
    }
    const picker = h("input", { type: "file", accept: ".json,application/json", class: "vh", tabindex: -1, "aria-hidden": "true", onchange: () => { const file = picker.files?.[0]; if (file) this.events.upload(file); } });
    const families = grouped ? familiesOf(this.rows, this.page, this.sources, this.grouping) : [];
    const like = families.reduce((sum, family) => sum + family.groups.length, 0);
    const left = families.reduce((sum, family) => sum + family.groups.filter(group => group.members.some(member => member.row.state === "open" || member.row.state === "started")).length, 0);
    const ages = { new: 0, old: 0, absent: 0 };
    for (const { report } of all) if (report.baseline === "new") ages.new++; else if (report.baseline === "absent") ages.absent++; else if (report.baseline) ages.old++;
    const compared = ages.new + ages.old + ages.absent > 0;
    this.element.classList.toggle("tri", !!grouped);
    const head = [
      h("header", { class: "list-head" }, h("h1", { id: "list-heading" }, "Reports"),
        h("span", { class: "dim sum" }, grouped ? `${this.rows.length === all.length ? total : `${this.rows.length} of ${total}`} in ${plural(families.length, this.grouping === "rule" ? "rule" : "row")}, ${plural(like, "group")} of like reports` : `${this.page.name}, ${plural(tools, "analyser")}, ${made.slice(0, 10)} ${made.slice(11, 16)}`),
        h("span", { class: "grow" }),
        h("button", { class: "quiet", "data-act": "download", title: "Save all answers as a triage file", onclick: () => this.events.download() }, icon("save"), h("span", {}, "Save answers")),
        h("button", { class: "quiet", "data-act": "upload", title: "Load a triage file", onclick: () => picker.click() }, icon("load"), h("span", {}, "Load answers")), picker,
        h("span", { class: "dim", id: "list-progress" }, h("b", { class: "big" }, String(triaged)), ` of ${total} triaged${grouped && left > 0 ? `, about ${plural(left, "decision")} to go` : ""}`)),
      meter,
      ...this.notes(),
      h("div", { class: "filters" },
        segment("State", states.map(([state, name, count]) => toggle(name, count, this.filter.state === state, { "data-state": state }, () => this.set({ state })))),
        compared && segment("Baseline", ([["new", "New"], ["old", "Baseline"], ["absent", "Fixed"]] as const).map(([age, name]) => toggle(name, ages[age], this.filter.baseline === age, { "data-age": age }, () => this.set({ baseline: this.filter.baseline === age ? "all" : age })))),
        !grouped && segment("Severity", ([0, 3, 2, 1] as const).map(severity => toggle(severity === 0 ? "Any severity" : SEVERITIES[severity], undefined, this.filter.severity === severity, { "data-severity": String(severity) }, () => this.set({ severity })))),
        segment("Grouping", GROUPINGS.map(([by, name]) => toggle(name, undefined, this.grouping === by, { "data-group": by }, () => this.group(by)))),
        h("span", { class: "grow" }),
        h("form", { class: "add", onsubmit: (event: Event) => { event.preventDefault(); this.pick(0); } }, this.input, h("kbd", { "aria-hidden": "true" }, "/"))),
    ];
    if (grouped) {
      this.list?.stop();
      this.list = undefined;
      this.inner.replaceChildren(h("div", { class: "tri-l" }, h("div", { class: "tri-h" }, ...head), this.rows.length ? grouped.element : this.nothing(total), this.judging.bulk, this.judging.toast), this.pane.element);
      this.told = undefined;
      grouped.draw(families);
      if (focused) this.input.focus();
      return;
    }
    const table = h("table", {}, h("thead", {}, h("tr", {}, COLUMNS.map(([title, key, kind]) => this.heading(title, key, kind)))), body);
    this.inner.replaceChildren(...head, this.rows.length === 0 ? this.nothing(total) : table, this.judging.bulk, this.judging.toast);
    this.selected = Math.min(this.selected, Math.max(0, this.rows.length - 1));
    this.judging.show({
      rows: () => this.rows, left: () => ({ odd: [], all: this.rows.length }),
      redraw: () => { this.draw(); this.pick(this.selected); },
      onward: () => { const waits = this.rows.findIndex((row, at) => at >= this.selected && !isTriaged(row.state) && row.report.baseline !== "absent"); this.pick(waits >= 0 ? waits : this.selected); },
    });
    this.list?.stop();
    this.list = new Windowed(body, this.element, this.rows.length, ROW, at => this.row(at), height => {
      const cell = h("td", { colspan: COLUMNS.length });
      cell.style.height = `${height}px`;
      return h("tr", { class: "gap", "aria-hidden": "true" }, cell);
    });
    if (focused) this.input.focus();
  }

  private heading(title: string, key: SortKey | undefined, kind = ""): HTMLElement {
    if (!key) return h("th", { scope: "col", class: kind }, title || h("span", { class: "vh" }, "Title"));
    const on = this.filter.sort === key;
    return h("th", { scope: "col", "aria-sort": on ? (this.filter.descending ? "descending" : "ascending") : "none" },
      h("button", { "data-sort": key, onclick: () => { this.set({ sort: key, descending: on && !this.filter.descending }); this.inner.querySelector<HTMLElement>(`[data-sort="${key}"]`)?.focus(); } }, title));
  }

  private row(at: number): HTMLElement {
    const { report, state, record, index } = this.rows[at]!;
    const files = new Set(report.paths.flatMap(path => path.frames.flatMap(frame => (frame.file === undefined ? [] : [frame.file])))).size;
    const depths = report.paths.map(depthOf);
    const who = record?.verdict ? `${record.author}${record.author ? ", " : ""}${record.time.slice(0, 10)}` : report.suppressed !== undefined && state === "false" ? "suppressed" : "";
    const on = this.judging.selected.has(index), age = report.baseline;
    const row = h("tr", { "data-report": report.id, "data-state": state, "data-severity": report.severity, class: `${at === this.selected ? "sel" : ""}${on ? " on" : ""}`, onclick: (event: Event) => { event.preventDefault(); this.events.open(index); } },
      h("td", {}, age === "absent" && !isTriaged(state) ? h("span", { class: "state fixed" }, icon("taken"), h("span", {}, "Fixed")) : stateElement(state)), h("td", { class: "rid" }, report.id, on && h("span", { class: "vh" }, "selected")),
      h("td", { class: "ttl" }, h("a", { href: `#${report.id}`, title: report.title }, titled(report.title)), perhapsElement(this.events.perhaps(index)), age === "new" && h("span", { class: "bdg new" }, "new"), age === "absent" && isTriaged(state) && h("span", { class: "bdg fix" }, "fixed")),
      h("td", { class: "mono dim", title: report.place }, report.place.split("/").slice(-2).join("/")), h("td", { class: "mono dim", title: report.rule }, report.rule),
      h("td", {}, severityElement(report.severity)),
      h("td", { class: "paths" }, stairs(depths), h("span", {}, `${plural(depths.length, "path")}, ${Math.max(0, ...depths)} deep`)),
      h("td", { class: "num" }, String(files)), h("td", { class: "dim" }, report.tool), h("td", { class: "dim by" }, who));
    return row;
  }

  private allNotes = false;
  /** What was cut, left out or carried over; all of it, if asked for. */
  private notes(): HTMLElement[] {
    const { notes } = this.page, { earlier, elsewhere } = this.events;
    const shown = this.allNotes ? notes : notes.slice(0, NOTES), left = notes.length - shown.length;
    const button = (text: string, run: () => void) => h("button", { class: "link", onclick: run }, text);
    const out = shown.map(note => h("p", { class: "page-note" }, note));
    if (left > 0) out.push(h("p", { class: "page-note" }, button(`${plural(left, "more note")}`, () => { this.allNotes = true; this.draw(); })));
    if (elsewhere() > 0) out.push(h("p", { class: "page-note" }, `This browser keeps answers on ${plural(elsewhere(), "report")} that ${elsewhere() === 1 ? "is" : "are"} not here or look different now: save the answers as a file, and parallax view --triage finds them.`));
    if (earlier()) out.push(h("p", { class: "page-note" }, `This browser keeps answers that an earlier Parallax was given on a project called ${this.page.name}. `, button("Save them as a file", () => this.events.saveEarlier()), " for parallax view --triage, if they are of this project."));
    return out;
  }

  /** Moves the selection to a row and focuses it. */
  pick(at: number): void {
    if (this.grouped) { this.grouped.pick(at); return; }
    if (this.rows.length === 0) return;
    this.selected = Math.min(Math.max(at, 0), this.rows.length - 1);
    this.list?.show(this.selected);
    for (const old of this.inner.querySelectorAll("tr.sel")) old.classList.remove("sel");
    const { report } = this.rows[this.selected]!;
    const row = this.inner.querySelector<HTMLElement>(`tr[data-report="${CSS.escape(report.id)}"]`);
    row?.classList.add("sel");
    row?.querySelector("a")?.focus({ preventScroll: true });
    this.events.say(`${report.id}, ${report.title.replaceAll("`", "")}`);
  }

  /** To the next group; where there is none, to the next report whose rule is another. */
  stepGroup(by: number): void {
    if (this.grouped) { this.grouped.stepGroup(by); return; }
    const here = this.rows[this.selected]?.report.rule;
    let at = this.selected + by;
    while (this.rows[at] && this.rows[at]!.report.rule === here) at += by;
    this.pick(at);
  }

  inward(): void { if (this.grouped) this.grouped.inward(); else this.events.say("Enter opens the report"); }
  outward(): void { if (this.grouped) this.grouped.outward(); else this.events.say("These reports are in no group"); }
  toEnd(last: boolean): void { if (this.grouped) this.grouped.toEnd(last); else this.pick(last ? this.rows.length - 1 : 0); }

  toggleCurrent(): void {
    if (this.grouped) { this.grouped.toggle(); return; }
    const row = this.rows[this.selected];
    if (row) this.judging.toggle(row.index); else this.events.say("No report is shown");
  }

  /** Selects what is like the current report: of its group, or of its rule among the rows that are shown. */
  selectAlike(): void {
    if (this.grouped) { this.grouped.selectAlike(); return; }
    const here = this.rows[this.selected]?.report;
    this.judging.toggleAll(this.rows.filter(row => row.report.rule === here?.rule && row.report.tool === here.tool).map(row => row.index));
  }

  judge(verdict: Verdict): void {
    if (this.grouped) { this.grouped.judge(verdict); return; }
    this.judging.judge(verdict, this.rows[this.selected]?.index, []);
  }

  /** Shows what is beside the list; the list that is not grouped makes room for it. */
  beside(act: () => void): void {
    if (!this.grouped) {
      const index = this.rows[this.selected]?.index;
      this.group("rule");
      if (index !== undefined) this.groups.pickReport(index, true);
    }
    this.element.classList.remove("no-pane");
    act();
  }

  step(by: number): void { if (this.grouped) this.grouped.step(by); else this.pick(this.selected + by); }

  pickReport(index: number): void { if (this.grouped) { this.grouped.pickReport(index); return; } this.pick(Math.max(0, this.rows.findIndex(row => row.index === index))); }

  openSelected(): void { if (this.grouped) { this.grouped.enter(); return; } const row = this.rows[this.selected]; if (row) this.events.open(row.index); }
}

/** What a report may have been judged before. */
export function perhapsElement(likely: readonly { readonly name: string; readonly record: TriageRecord }[]): HTMLElement | false {
  const [first] = likely;
  return !!first && h("span", { class: "bdg perhaps", title: `= confirms it${first.record.note ? `: ${first.record.note}` : ""}` }, `perhaps ${first.name}${first.record.verdict ? `, ${STATE_NAMES[first.record.verdict].toLowerCase()}` : ""}`);
}

export const stateElement = (state: State): HTMLElement => h("span", { class: `state ${state}` }, icon(state), h("span", {}, STATE_NAMES[state]));
export const severityElement = (severity: number): HTMLElement => h("span", { class: `sev s${severity}` }, icon(`sev${severity}`), SEVERITIES[severity as 1 | 2 | 3]);
