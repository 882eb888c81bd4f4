// One report to read: its paths in columns, a search over them, the tool's words and the checklist beside them.

import { editorLink } from "../lib/address.ts";
import { ordinalOf, stepCount } from "../lib/describe.ts";
import type { Page, Report, TriageRecord } from "../lib/page.ts";
import type { Source } from "../lib/source.ts";
import { ChecklistCard, type ChecklistEvents } from "./checklist.ts";
import { NARROW } from "./column.ts";
import { Columns } from "./columns.ts";
import { h, icon } from "./dom.ts";
import { ReportCard } from "./report.ts";
import { Search } from "./search.ts";
import { Sheet, type Part } from "./sheet.ts";

export interface ReadingEvents {
  /** A step has become the current one. */
  selected(path: number, step: number): void;
  say(text: string): void;
  /** Copies the address of the current step. */
  link(): void;
  /** What the checklist asks for and tells. */
  readonly answers: Omit<ChecklistEvents, "answered">;
}

export class ReadingView {
  readonly element: HTMLElement;
  readonly columns: Columns;
  readonly search: Search;
  readonly card: ReportCard;
  readonly checklist: ChecklistCard;
  private readonly sheet: Sheet;
  private readonly stage: HTMLElement;
  private readonly panelButton: HTMLElement;
  private report: Report | undefined;

  constructor(private readonly page: Page, sources: readonly Source[], private readonly events: ReadingEvents) {
    const say = (text: string) => events.say(text);
    this.columns = new Columns(page, sources, { selected: (path, step) => this.selected(path, step), hover: (path, step) => this.card.link(path, step), say, link: () => events.link() });
    this.search = new Search(this.columns, sources, say);
    this.card = new ReportCard(page, sources, { select: (path, step) => this.columns.select(path, step), hover: (path, step) => this.columns.all[path]?.link(step), related: index => this.revealRelated(index) });
    this.sheet = new Sheet({ move: by => this.columns.move(by), access: () => this.columns.otherAccess(), link: () => events.link(), show: part => this.showPart(part) });
    this.checklist = new ChecklistCard({ ...events.answers, answered: words => this.sheet.answered(words) });
    this.panelButton = h("button", { class: "icon", "data-act": "panel", "aria-pressed": "true", title: "Report and checklist (p)", "aria-label": "Show report and checklist", onclick: () => this.togglePanel() }, icon("panel"));
    this.stage = h("div", { class: "stage" }, this.columns.element, h("aside", { class: "side", "aria-label": "Report and checklist" }, this.card.element, this.checklist.element));
    const { bar } = this.search;
    this.element = h("main", { id: "main", class: "report-view" },
      h("div", { class: "querybar", role: "search" }, h("span", { class: "lens" }, icon("find")), bar.chips, bar.form, h("span", { class: "grow" }), this.columns.buttons, this.panelButton),
      this.sheet.stack, this.stage, this.sheet.element);
  }

  open(report: Report, record: TriageRecord | undefined): void {
    const template = this.page.checklists[report.checklist];
    this.report = report;
    this.columns.show(report);
    this.card.forget();
    this.card.show(report);
    this.checklist.show(report, template, record);
    this.search.begin(template?.presets ?? []);
    this.columns.begin();
    this.columns.showCurrent();
  }

  private selected(path: number, step: number): void {
    const column = this.columns.all[path]!;
    this.card.mark(path, step);
    if (matchMedia(NARROW).matches) this.sheet.show(column, step, this.columns.all.length - 1);
    this.events.selected(path, step);
    const source = column.placeOf(step)?.node.source, line = column.path.steps[step]?.l;
    this.events.say(`Path ${path + 1}, step ${ordinalOf(column.path, step)} of ${stepCount(column.path)}${source ? `, ${source.name}${line === undefined ? "" : `:${line}`}` : ""}`);
  }

  togglePanel(): void {
    const on = this.panelButton.getAttribute("aria-pressed") !== "true";
    this.panelButton.setAttribute("aria-pressed", String(on));
    this.stage.classList.toggle("wide", !on);
  }

  /** Shows the panel, where it is hidden. */
  private showPanel(): void { if (this.panelButton.getAttribute("aria-pressed") !== "true") this.togglePanel(); }

  toChecklist(): void { this.showPanel(); if (!this.checklist.focus()) this.events.say("This report has no checklist"); }

  aboutRule(): void { this.showPanel(); if (!this.card.showRule()) this.events.say("The tool says nothing about this rule"); }

  /** On a phone the path, the report and the checklist take turns. */
  private showPart(part: Part): void {
    const wide = this.stage.classList.contains("wide");
    if (wide !== (part === "path")) this.togglePanel();
    const verdict = this.checklist.element.querySelector(".verdict");
    if (part !== "path") (part === "report" ? this.card.element : part === "verdict" && verdict ? verdict : this.checklist.element).scrollIntoView({ block: part === "verdict" ? "end" : "start" });
  }

  private revealRelated(index: number): void {
    const definition = this.report?.related[index]?.definition, column = this.columns.current;
    if (definition === undefined || !column) { this.events.say("The source of that place is not here"); return; }
    const step = column.current ?? 0;
    this.columns.select(this.columns.active, step);
    const place = column.placeOf(step), row = place?.node.rows[place.row];
    if (row?.kind === "line") column.reveal(row.key, definition);
  }

  openInEditor(): void {
    const column = this.columns.current, source = column?.placeOf(column.current)?.node.source, line = column?.path.steps[column.current ?? -1]?.l ?? 1;
    const { editor } = this.page;
    if (!editor) { this.events.say("No editor is set: parallax view --editor LINK"); return; }
    if (!source?.path) { this.events.say("This file is not here"); return; }
    // A link that a browser opens itself gets a tab of its own; the others leave the page where it is.
    h("a", { href: editorLink(editor, source.path, line), target: "_blank", rel: "noopener noreferrer" }).click();
    this.events.say(`${source.name}:${line}`);
  }
}
