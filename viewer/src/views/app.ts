// The application: which report is open, which step is current, and what every key and button does.

import { plural } from "../lib/describe.ts";
import { Finder, type Place } from "../lib/layout.ts";
import { progress } from "../lib/list.ts";
import type { Page, Report } from "../lib/page.ts";
import { addQuery, type Query } from "../lib/query.ts";
import { sourcesOf, type Source } from "../lib/source.ts";
import { ChecklistCard } from "./checklist.ts";
import { Column } from "./column.ts";
import { h, icon, titled } from "./dom.ts";
import { helpDialog } from "./help.ts";
import { ListView, severityElement } from "./list.ts";
import { QueryBar } from "./queries.ts";
import { ReportCard } from "./report.ts";
import { Storage } from "./storage.ts";

/** Of reports with more paths, only so many are shown at first. */
const SHOWN_AT_FIRST = 3;

export class App {
  private readonly sources: readonly Source[];
  private readonly storage: Storage;
  private readonly list: ListView;
  private readonly card: ReportCard;
  private readonly checklist: ChecklistCard;
  private readonly bar: QueryBar;
  private help: HTMLDialogElement | undefined;
  private readonly columnsElement = h("div", { class: "columns" });
  private readonly columnButtons = h("span", { class: "seg", role: "group", "aria-label": "Columns" });
  private readonly stage: HTMLElement;
  private readonly panelButton: HTMLElement;
  private readonly where = h("span", { id: "where", role: "status", "aria-live": "polite" });
  private readonly title = h("h1", { id: "title" });
  private readonly meta = h("span", { id: "meta" });
  private readonly crumb = h("span", { id: "crumb" });
  private readonly progressText = h("span", { id: "progress" });
  private readonly progressBar = h("i");
  private columns: Column[] = [];
  private queries: readonly Query[] = [];
  private finder = new Finder([]);
  /** Terms the user added; they stay when the report changes. */
  private added: string[] = [];
  private at = -1;
  private active = 0;
  private match = -1;

  constructor(private readonly page: Page) {
    this.sources = sourcesOf(page);
    this.storage = new Storage(page, why => this.say(why));
    this.list = new ListView(page, {
      open: index => this.open(index), say: text => this.say(text), records: () => this.storage.records,
      download: () => this.download(), upload: file => void this.upload(file),
    });
    this.card = new ReportCard(this.sources, {
      select: (path, step) => this.select(path, step), hover: (path, step) => this.columns[path]?.link(step), related: index => this.revealRelated(index),
    });
    this.checklist = new ChecklistCard({
      save: (record, submitted) => this.save(record, submitted), author: () => this.storage.author, setAuthor: name => { this.storage.author = name; },
    });
    this.bar = new QueryBar({
      add: term => this.addTerm(term), remove: term => this.setQueries(this.queries.filter(query => query.term !== term)),
      removeLast: () => this.setQueries(this.queries.slice(0, -1)), jump: term => this.jump(1, term), say: text => this.say(text),
    });
    this.panelButton = h("button", { class: "icon", "data-act": "panel", "aria-pressed": "true", title: "Report and checklist (p)", "aria-label": "Show report and checklist", onclick: () => this.togglePanel() }, icon("panel"));
    this.stage = h("div", { class: "stage" }, this.columnsElement, h("aside", { class: "side", "aria-label": "Report and checklist" }, this.card.element, this.checklist.element));
  }

  /** Puts the page together; to be called when its first view is drawn, so that the browser lays it out once. */
  private mount(body: HTMLElement): void {
    const button = (act: string, title: string, label: string, name: string, run: () => void, kind = "icon") =>
      h("button", { class: kind, "data-act": act, title, "aria-label": label, onclick: run }, name === "?" ? h("kbd", {}, "?") : icon(name));
    const toList = (event: Event) => { event.preventDefault(); this.showList(); };
    body.append(
      h("a", { class: "skip", href: "#main", onclick: (event: Event) => { event.preventDefault(); this.select(this.active, this.columns[this.active]?.current ?? 0); } }, "Skip to the paths"),
      h("header", { class: "topbar" },
        h("a", { class: "brand", href: "#list", "aria-label": "Parallax, all reports", onclick: toList }, icon("logo"), h("span", {}, "Parallax")),
        h("nav", { class: "crumbs", "aria-label": "Breadcrumb" }, h("a", { href: "#list", onclick: toList }, this.page.name), h("span", { "aria-hidden": "true" }, "/"), this.crumb),
        this.title, this.meta, h("span", { class: "grow" }),
        h("span", { class: "progress", title: "Triaged reports" }, h("span", { class: "bar", "aria-hidden": "true" }, this.progressBar), this.progressText),
        h("span", { class: "pager", role: "group", "aria-label": "Reports" },
          button("prev", "Previous report ([)", "Previous report", "prev", () => this.go(-1), ""), button("next", "Next report (])", "Next report", "next", () => this.go(1), "")),
        button("theme", "Light or dark", "Switch between light and dark", "theme", () => this.toggleTheme()),
        button("help", "Keyboard (?)", "Keyboard help", "?", () => this.showHelp())),
      h("main", { id: "main", class: "report-view" },
        h("div", { class: "querybar", role: "search" }, h("span", { class: "lens" }, icon("find")), this.bar.chips, this.bar.form, h("span", { class: "grow" }), this.columnButtons, this.panelButton),
        this.stage),
      this.list.element,
      h("footer", { class: "status" }, this.where, h("span", { class: "grow" }),
        hints("report-hints", [["j k", "step"], ["h l", "path"], ["a", "access"], ["e", "unfold"], ["d", "definition"], ["/", "find"], ["?", "all keys"]]),
        hints("list-hints", [["j k", "report"], ["Enter", "open"], ["/", "filter"], ["?", "all keys"]])));
    document.addEventListener("keydown", event => this.key(event));
    addEventListener("beforeprint", () => { for (const column of this.columns) column.drawWhole(); });
    addEventListener("afterprint", () => { for (const column of this.columns) column.drawWindow(); });
    addEventListener("resize", () => { for (const column of this.columns) column.drawWindow(); });
  }

  /** Opens what the address asks for; a report that waits for triage by default. */
  start(body: HTMLElement, options: URLSearchParams, word: string): void {
    const theme = options.get("theme");
    if (theme) document.documentElement.dataset["theme"] = theme;
    this.added = options.getAll("q");
    const asked = this.page.reports.findIndex(report => report.id === word);
    const waiting = this.list.all().find(row => row.state === "open" || row.state === "started")?.index ?? 0;
    this.open(asked >= 0 ? asked : waiting);
    if (options.get("unfold") === "all") for (const column of this.columns) column.unfoldAll();
    const tab = Number(options.get("tab"));
    if (tab > 0) this.checklist.openTab(tab - 1);
    this.mount(body);
    if (word === "list" || this.page.reports.length === 0) this.showList();
    if (word === "help") this.showHelp();
    // The rest of what is on screen already can wait until it is.
    requestAnimationFrame(() => setTimeout(() => { for (const column of this.columns) column.drawWindow(); }));
  }

  private showHelp(): void {
    if (!this.help) document.body.append(this.help = helpDialog());
    this.help.showModal();
  }

  say(text: string): void { this.where.textContent = text; }

  private get report(): Report | undefined { return this.page.reports[this.at]; }

  /* Reports -------------------------------------------------------------------- */

  open(index: number): void {
    const report = this.page.reports[index];
    if (!report) return;
    document.body.dataset["view"] = "report";
    this.at = index;
    this.crumb.textContent = report.id;
    this.title.replaceChildren(...titled(report.title).filter(child => !!child) as (Node | string)[]);
    this.title.title = report.title;
    this.meta.replaceChildren(severityElement(report.severity), h("span", { class: "tool" }, report.tool));
    document.title = `${report.id} ${report.title.replaceAll("`", "")} - Parallax`;
    history.replaceState(null, "", `#${report.id}`);
    this.columns = report.paths.map((path, number) => new Column(number + 1, path, this.page, this.sources, {
      select: step => this.select(number, step), hover: step => this.card.link(number, step),
      hide: () => this.toggleColumn(number), move: by => this.moveColumn(number, by), changed: () => this.afterLayout(),
    }));
    this.columnsElement.replaceChildren(...this.columns.map(column => column.element));
    this.columns.forEach((column, number) => { column.element.hidden = number >= SHOWN_AT_FIRST; });
    if (this.columns.length === 0) this.columnsElement.append(h("p", { class: "elsewhere dim" }, "This report names no path and no place in the source."));
    this.drawColumnButtons();
    this.active = 0;
    this.card.forget();
    this.card.show(report);
    this.checklist.show(report, this.page.checklists[report.checklist], this.storage.records[report.fingerprint]);
    const presets = this.page.checklists[report.checklist]?.presets ?? [];
    let queries: readonly Query[] = [];
    for (const term of [...presets, ...this.added]) queries = addQuery(queries, term) ?? queries;
    this.setQueries(queries);
    this.drawProgress();
    this.columns.forEach(column => { if (column.path.steps.length) column.current = 0; });
    this.select(0, 0, false);
    if (report.paths.length > SHOWN_AT_FIRST) this.say(`${SHOWN_AT_FIRST} of ${plural(report.paths.length, "path")} shown: choose others above`);
  }

  private go(by: number): void {
    const next = this.list.neighbour(this.at, by);
    if (next === undefined) this.say(by > 0 ? "That was the last report" : "That was the first report");
    else this.open(next);
  }

  showList(): void {
    document.body.dataset["view"] = "list";
    this.crumb.textContent = "Reports";
    document.title = `${this.page.name} - Parallax`;
    history.replaceState(null, "", "#list");
    this.list.draw();
    if (this.at >= 0) this.list.pickReport(this.at);
  }

  private drawProgress(): void {
    const { triaged, total } = progress(this.list.all());
    this.progressText.textContent = `${triaged} of ${total} triaged`;
    this.progressBar.style.width = `${total ? (100 * triaged) / total : 0}%`;
  }

  /* Triage ---------------------------------------------------------------------- */

  private save(record: Parameters<Storage["save"]>[1], submitted: boolean): void {
    const { report } = this;
    if (!report) return;
    this.storage.save(report.fingerprint, record);
    this.drawProgress();
    if (!submitted) return;
    const rows = this.list.all(), waits = (index: number) => rows[index]?.state === "open" || rows[index]?.state === "started";
    const order = [...rows.keys()].slice(this.at + 1).concat([...rows.keys()].slice(0, this.at));
    const next = order.find(waits);
    if (next === undefined) this.showList(); else this.open(next);
    this.say(next === undefined ? "All reports are triaged" : `${report.id} submitted`);
  }

  private download(): void {
    const link = h("a", { href: URL.createObjectURL(new Blob([this.storage.text()], { type: "application/json" })), download: "triage.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
  }

  private async upload(file: File): Promise<void> {
    const wrong = this.storage.load(await file.text());
    this.list.draw();
    this.drawProgress();
    this.say(wrong ?? `Answers loaded from ${file.name}`);
  }

  /* Columns ---------------------------------------------------------------------- */

  private visible(): number[] {
    const order = [...this.columnsElement.children];
    return this.columns.map((_, number) => number).filter(number => !this.columns[number]!.element.hidden)
      .sort((a, b) => order.indexOf(this.columns[a]!.element) - order.indexOf(this.columns[b]!.element));
  }

  private drawColumnButtons(): void {
    this.columnButtons.hidden = this.columns.length < 2;
    this.columnButtons.replaceChildren(...this.columns.map((column, number) =>
      h("button", { "data-col": number + 1, "aria-pressed": String(!column.element.hidden), onclick: () => this.toggleColumn(number) }, this.columns.length > 6 ? String(number + 1) : `Path ${number + 1}`)));
  }

  private toggleColumn(number: number): void {
    const column = this.columns[number];
    if (!column || (!column.element.hidden && this.visible().length === 1)) return;
    column.element.hidden = !column.element.hidden;
    this.drawColumnButtons();
    if (column.element.hidden && this.active === number) this.active = this.visible()[0] ?? 0;
    if (!column.element.hidden) column.relayout(this.finder);
    this.afterLayout();
    this.columnButtons.querySelector<HTMLElement>(`[data-col="${number + 1}"]`)?.focus();
  }

  /** Moves a column past its neighbour; past the end it comes round. */
  private moveColumn(number: number, by: number): void {
    const column = this.columns[number], order = this.visible(), at = order.indexOf(number);
    if (!column || order.length < 2) return;
    const focused = document.activeElement;
    const to = at + by;
    if (to < 0) this.columnsElement.append(column.element);
    else if (to >= order.length) this.columnsElement.prepend(column.element);
    else if (by > 0) this.columns[order[to]!]!.element.after(column.element);
    else this.columns[order[to]!]!.element.before(column.element);
    column.redraw();
    if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
    this.say(`Path ${number + 1} is now column ${this.visible().indexOf(number) + 1} of ${order.length}`);
  }

  /* Steps -------------------------------------------------------------------------- */

  select(path: number, step: number, focus = true): void {
    const column = this.columns[path];
    if (!column || step < 0 || step >= column.path.steps.length) return;
    if (column.element.hidden) this.toggleColumn(path);
    this.active = path;
    this.columns.forEach((other, number) => {
      other.active = number === path;
      if (!other.active) other.select(other.current, false);
    });
    column.select(step, focus);
    this.card.mark(path, step);
    const place = column.placeOf(step), line = column.path.steps[step]?.l;
    this.say(`Path ${path + 1}, step ${step + 1} of ${column.path.steps.length}${place?.node.source ? `, ${place.node.source.name}${line === undefined ? "" : `:${line}`}` : ""}`);
  }

  private move(by: number): void {
    const column = this.columns[this.active];
    if (!column) return;
    this.select(this.active, Math.min(Math.max((column.current ?? -1) + by, 0), column.path.steps.length - 1));
  }

  private sideways(by: number): void {
    const order = this.visible(), to = order[Math.min(Math.max(order.indexOf(this.active) + by, 0), order.length - 1)];
    if (to !== undefined) this.select(to, this.columns[to]?.current ?? 0);
  }

  private failing(): void {
    const steps = this.columns[this.active]?.path.steps ?? [];
    this.select(this.active, steps.findLastIndex(step => step.x));
  }

  private revealRelated(index: number): void {
    const definition = this.report?.related[index]?.definition;
    const column = this.columns[this.active];
    if (definition === undefined || !column) { this.say("The source of that place is not here"); return; }
    const step = column.current ?? 0;
    this.select(this.active, step);
    const place = column.placeOf(step), row = place?.node.rows[place.row];
    if (row?.kind === "line") column.reveal(row.key, definition);
  }

  /* Search --------------------------------------------------------------------------- */

  private addTerm(term: string): boolean {
    const queries = addQuery(this.queries, term);
    if (!queries) return false;
    this.added.push(term.trim());
    this.setQueries(queries);
    return true;
  }

  private setQueries(queries: readonly Query[]): void {
    this.added = this.added.filter(term => queries.some(query => query.term === term));
    this.queries = queries;
    this.match = -1;
    this.finder = new Finder(queries);
    for (const column of this.columns) if (!column.element.hidden) column.relayout(this.finder);
    this.afterLayout();
    this.bar.draw(queries, this.counts(this.finder));
  }

  /** Matches on lines of the shown functions, each function counted once per path. */
  private counts(finder: Finder): Map<string, number> {
    const counts = new Map(this.queries.map(query => [query.term, 0]));
    if (this.queries.length === 0) return counts;
    for (const { path } of this.columns) {
      const seen = new Set<string>();
      for (const frame of path.frames) {
        const source = frame.file === undefined ? undefined : this.sources[frame.file];
        if (!source || !frame.lines) continue;
        for (let line = frame.lines[0]; line <= frame.lines[1]; line++) {
          const key = `${frame.file}:${line}`;
          if (seen.has(key)) continue;
          seen.add(key);
          for (const match of finder.in(source, line)) counts.set(match.query.term, (counts.get(match.query.term) ?? 0) + 1);
        }
      }
    }
    return counts;
  }

  private jump(by: number, term?: string): void {
    const all: { column: Column; place: Place }[] = this.visible().flatMap(number => this.columns[number]!.matches(term).map(place => ({ column: this.columns[number]!, place })));
    for (const old of document.querySelectorAll("mark.now")) old.classList.remove("now");
    if (all.length === 0) { this.say("No match on these paths"); return; }
    this.match = (((this.match + by) % all.length) + all.length) % all.length;
    const { column, place } = all[this.match]!;
    this.say(`${column.markNow(place, term)}, ${this.match + 1} of ${plural(all.length, "match")}`);
  }

  private afterLayout(): void {
    this.columns.forEach(column => { if (column.current !== undefined) column.select(column.current, false); });
  }

  /* Window ---------------------------------------------------------------------------- */

  private togglePanel(): void {
    const on = this.panelButton.getAttribute("aria-pressed") !== "true";
    this.panelButton.setAttribute("aria-pressed", String(on));
    this.stage.classList.toggle("wide", !on);
  }

  private toggleTheme(): void {
    const root = document.documentElement;
    const dark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset["theme"] = dark ? "light" : "dark";
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { if (!this.checklist.submit()) this.say("Not all questions are answered yet"); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || this.help?.open) return;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (target.matches("input[type=text], textarea")) { if (event.key === "Escape") target.blur(); return; }
    // Radio buttons and tabs have arrow keys of their own, buttons have Enter.
    if (event.key.startsWith("Arrow") && !target.matches(".step, body, .scroller, tr a")) return;
    if (event.key === "Enter" && target.matches("button, a:not(tr a)")) return;
    const run = document.body.dataset["view"] === "list" ? this.listKey(event.key) : this.reportKey(event.key);
    if (run) { event.preventDefault(); run(); }
  }

  private listKey(key: string): (() => void) | undefined {
    switch (key) {
      case "j": case "ArrowDown": return () => this.list.step(1);
      case "k": case "ArrowUp": return () => this.list.step(-1);
      case "Enter": return () => this.list.openSelected();
      case "/": return () => this.list.focusFilter();
      case "b": return () => this.open(Math.max(this.at, 0));
      case "Escape": return () => this.list.clear();
      case "?": return () => this.showHelp();
      default: return undefined;
    }
  }

  private reportKey(key: string): (() => void) | undefined {
    const column = this.columns[this.active];
    switch (key) {
      case "j": case "ArrowDown": return () => this.move(1);
      case "k": case "ArrowUp": return () => this.move(-1);
      case "h": case "ArrowLeft": return () => this.sideways(-1);
      case "l": case "ArrowRight": return () => this.sideways(1);
      case "H": return () => this.moveColumn(this.active, -1);
      case "L": return () => this.moveColumn(this.active, 1);
      case "g": return () => this.select(this.active, 0);
      case "a": return () => this.failing();
      case "e": return () => column?.unfoldCurrent();
      case "E": return () => column?.unfoldAll();
      case "d": return () => { if (!column?.nextDefinition()) this.say("No definition on this line"); };
      case "/": return () => this.bar.input.focus();
      case "n": return () => this.jump(1);
      case "N": return () => this.jump(-1);
      case "c": return () => this.checklist.focus();
      case "T": return () => this.checklist.choose("true");
      case "F": return () => this.checklist.choose("false");
      case "U": return () => this.checklist.choose("unsure");
      case "[": return () => this.go(-1);
      case "]": return () => this.go(1);
      case "b": return () => this.showList();
      case "p": return () => this.togglePanel();
      case "?": return () => this.showHelp();
      case "Escape": return () => { this.columns.some(one => one.closeDefinition()); };
      default: return undefined;
    }
  }
}

function hints(kind: string, rows: readonly (readonly [string, string])[]): HTMLElement {
  return h("span", { class: `hints ${kind}`, "aria-hidden": "true" }, rows.map(([keys, what]) => h("span", {}, keys.split(" ").map(key => h("kbd", {}, key)), what)));
}
