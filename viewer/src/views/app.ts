// The application: which report is open, which step is current, and what every key and button does.

import { ordinalOf, plural, stepCount } from "../lib/describe.ts";
import { editorLink, parseAddress, writeAddress, type Address } from "../lib/address.ts";
import { MANY } from "../lib/groups.ts";
import { Finder, type Place } from "../lib/layout.ts";
import { progress } from "../lib/list.ts";
import type { Page, Report } from "../lib/page.ts";
import { addQuery, type Query } from "../lib/query.ts";
import { sourcesOf, type Source } from "../lib/source.ts";
import { ChecklistCard } from "./checklist.ts";
import { Column, NARROW } from "./column.ts";
import { CompareView, type PathRef } from "./compare.ts";
import { h, icon, titled } from "./dom.ts";
import { helpDialog } from "./help.ts";
import { ListView, severityElement } from "./list.ts";
import { orderElement } from "./order.ts";
import { pickPath } from "./picker.ts";
import { QueryBar } from "./queries.ts";
import { ReportCard } from "./report.ts";
import { Sheet, type Part } from "./sheet.ts";
import { Storage } from "./storage.ts";

/** Of reports with more paths, only so many are shown at first. */
const SHOWN_AT_FIRST = 3;

const CHAINED = "Functions that only pass the call on share a head", UNCHAINED = "Every function has its own box";

export class App {
  private readonly sources: readonly Source[];
  private readonly storage: Storage;
  private readonly list: ListView;
  private readonly card: ReportCard;
  private readonly checklist: ChecklistCard;
  private readonly bar: QueryBar;
  private readonly comparison: CompareView;
  private help: HTMLDialogElement | undefined;
  private readonly columnsElement = h("div", { class: "columns" });
  private readonly columnButtons = h("span", { class: "seg", role: "group", "aria-label": "Columns" });
  private readonly stage: HTMLElement;
  private readonly panelButton: HTMLElement;
  private readonly sheet = new Sheet({ move: by => this.move(by), access: () => this.otherAccess(), link: () => this.copyLink(), show: part => this.showPart(part) });
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
    this.list = new ListView(page, this.sources, {
      open: (index, path, step) => { this.open(index); if (path !== undefined) this.select(path, step ?? 0); }, say: text => this.say(text), records: () => this.storage.records, author: () => this.storage.author,
      saveMany: records => { this.storage.saveMany(records); this.drawProgress(); },
      download: () => this.download(), upload: file => void this.upload(file),
    });
    this.comparison = new CompareView(page, this.sources, {
      say: text => this.say(text), pick: side => this.pickOther(side), moved: () => { if (!this.arriving) this.addressCompare(false); }, leave: () => this.leaveCompare(), link: () => this.copyLink(), values: () => this.toggleValues(),
    });
    this.card = new ReportCard(page, this.sources, {
      select: (path, step) => this.select(path, step), hover: (path, step) => this.columns[path]?.link(step), related: index => this.revealRelated(index),
    });
    this.checklist = new ChecklistCard({
      save: (record, submitted) => this.save(record, submitted), author: () => this.storage.author, setAuthor: name => { this.storage.author = name; },
      answered: words => this.sheet.answered(words),
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
        h("a", { class: "brand", href: "#list", "aria-label": "Parallax, all reports", onclick: toList }, icon("logo"), icon("prev"), h("span", {}, "Parallax")),
        h("nav", { class: "crumbs", "aria-label": "Breadcrumb" }, h("a", { href: "#list", onclick: toList }, this.page.name), h("span", { "aria-hidden": "true" }, "/"), this.crumb),
        this.title, this.meta, h("span", { class: "grow" }),
        h("span", { class: "progress", title: "Triaged reports" }, h("span", { class: "bar", "aria-hidden": "true" }, this.progressBar), this.progressText),
        h("span", { class: "pager", role: "group", "aria-label": "Reports" },
          button("prev", "Previous report ([)", "Previous report", "prev", () => this.go(-1), ""), button("next", "Next report (])", "Next report", "next", () => this.go(1), "")),
        h("span", { class: "seg views", role: "group", "aria-label": "View" }, ([["Reports", () => this.showList()], ["Path", () => this.leaveCompare()], ["Compare", () => undefined]] as const).map(([name, run]) => h("button", { "aria-pressed": String(name === "Compare"), onclick: run }, name))),
        h("span", { class: "dim run", title: this.page.against ?? "" }, this.ran()),
        button("menu", "More", "More", "menu", () => this.showMenu()),
        button("theme", "Light or dark", "Switch between light and dark", "theme", () => this.toggleTheme()),
        button("help", "Keyboard (?)", "Keyboard help", "?", () => this.showHelp())),
      h("main", { id: "main", class: "report-view" },
        h("div", { class: "querybar", role: "search" }, h("span", { class: "lens" }, icon("find")), this.bar.chips, this.bar.form, h("span", { class: "grow" }), this.columnButtons, this.panelButton),
        this.sheet.stack, this.stage, this.sheet.element),
      this.comparison.element,
      this.list.element,
      h("footer", { class: "status" }, this.where, h("span", { class: "grow" }),
        hints("report-hints", [["j k", "step"], ["h l", "path"], ["a", "access"], ["e", "unfold"], ["d", "definition"], ["v", "compare"], ["/", "find"], ["?", "all keys"]]),
        hints("compare-hints", [["j k", "step in both"], ["h l", "side"], ["n N", "difference"], ["D", "first divergence"], ["o", "open loop"], ["v", "other path"], ["y", "copy link"], ["?", "all keys"]]),
        hints("list-hints", [["j k", "report"], ["J K", "group"], ["x X", "select one, alike"], ["T F U", "verdict"], ["z", "undo"], ["Enter", "path"], ["r", "rule"], ["a A", "fix"], ["?", "all keys"]])));
    document.addEventListener("keydown", event => this.key(event));
    addEventListener("popstate", () => this.follow(parseAddress(decodeURIComponent(location.hash.slice(1).split("&")[0] ?? ""))));
    if (this.page.server?.version !== undefined) this.watch(this.page.server.token, this.page.server.version);
    addEventListener("beforeprint", () => { for (const column of this.columns) column.drawWhole(); });
    addEventListener("afterprint", () => { for (const column of this.columns) column.drawWindow(); });
    addEventListener("resize", () => { for (const column of this.columns) column.drawWindow(); });
  }

  /** Opens what the address asks for; a report that waits for triage by default. */
  start(body: HTMLElement, options: URLSearchParams, word: string): void {
    const theme = options.get("theme");
    if (theme) document.documentElement.dataset["theme"] = theme;
    this.added = options.getAll("q");
    const address = parseAddress(word);
    const asked = address?.kind === "report" ? this.page.reports.findIndex(report => report.id === address.report) : -1;
    const waiting = this.list.all().find(row => row.state === "open" || row.state === "started")?.index ?? 0;
    this.open(asked >= 0 ? asked : waiting);
    if (asked >= 0 && address?.kind === "report" && address.path !== undefined) this.select(address.path - 1, (address.step ?? 1) - 1, false);
    if (options.get("unfold") === "all") for (const column of this.columns) column.unfoldAll();
    const tab = Number(options.get("tab"));
    if (tab > 0) this.checklist.openTab(tab - 1);
    this.mount(body);
    if (matchMedia(NARROW).matches) this.togglePanel();
    if (word === "list" || this.page.reports.length === 0) this.showList();
    // A page of hundreds is met as a list; one report, where the work is.
    else if (asked < 0 && this.page.reports.length >= MANY && address?.kind !== "compare") this.showList();
    if (address?.kind === "compare") this.follow(address);
    if (address?.kind === "report" && address.step !== undefined) { const column = this.columns[this.active]; column?.show(column.placeOf(column.current)); }
    if (word === "help") this.showHelp();
    // The rest of what is on screen already can wait until it is.
    requestAnimationFrame(() => setTimeout(() => { for (const column of this.columns) column.drawWindow(); }));
  }

  private showHelp(): void {
    if (!this.help) document.body.append(this.help = helpDialog());
    this.help.showModal();
  }

  /** When the reports were made, and what they are compared with. */
  private ran(): string {
    const day = new Date(this.page.made * 1000).toISOString().slice(0, 10);
    return this.page.against ? `Run of ${day} against ${this.page.against.split("/").pop() ?? ""}` : `Run of ${day}`;
  }

  /** On a phone, what has no room in the bar. */
  private showMenu(): void {
    const inReport = document.body.dataset["view"] === "report";
    const items: readonly (readonly [string, string, () => void, boolean])[] = [
      ["prev", "Previous report", () => this.go(-1), inReport], ["next", "Next report", () => this.go(1), inReport], ["swap", "Compare with another path", () => this.pickOther(), inReport],
      ["fold", "Close calls that are only passed on", () => { for (const column of this.columns) column.toggleChains(); }, inReport],
      ["save", "Save answers", () => this.download(), true], ["list", "All reports", () => this.showList(), document.body.dataset["view"] !== "list"], ["theme", "Light or dark", () => this.toggleTheme(), true], ["unsure", "Keys and signs", () => this.showHelp(), true]];
    const dialog = h("dialog", { id: "menu", "aria-label": "More", onclose: () => dialog.remove(), onclick: (event: Event) => { if (event.target === dialog) dialog.close(); } },
      items.filter(([, , , on]) => on).map(([name, text, run]) => h("button", { onclick: () => { dialog.close(); run(); } }, icon(name), text)));
    document.body.append(dialog);
    dialog.showModal();
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
    this.meta.replaceChildren(severityElement(report.severity), h("span", { class: "small" }, report.id), h("span", { class: "small mono" }, report.place.split("/").pop() ?? ""), h("span", { class: "tool" }, report.tool));
    document.title = `${report.id} ${report.title.replaceAll("`", "")} - Parallax`;
    this.visit({ kind: "report", report: report.id });
    this.columns = report.paths.map((path, number) => new Column(number + 1, path, this.page, this.sources, {
      select: step => this.select(number, step), hover: step => this.card.link(number, step),
      hide: () => this.toggleColumn(number), move: by => this.moveColumn(number, by), changed: () => this.afterLayout(), say: text => this.say(text), link: () => { this.select(number, this.columns[number]?.current ?? 0); this.copyLink(); },
    }));
    this.order = undefined;
    this.columnsElement.classList.remove("ordered");
    this.columnsElement.replaceChildren(...this.columns.map(column => column.element));
    const most = matchMedia(NARROW).matches ? 1 : SHOWN_AT_FIRST;
    this.columns.forEach((column, number) => { column.element.hidden = number >= most; });
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

  /* Addresses --------------------------------------------------------------------- */

  private visited = "";
  /** Puts an address into the history: another view is another entry, another step of the same is not. */
  private visit(address: Address, replace = false): void {
    const written = writeAddress(address), view = (of: string) => of.split(":").map(part => part.split("/")[0]).join(":");
    const another = this.visited !== "" && view(written) !== view(this.visited);
    this.visited = written;
    if (written === location.hash) return;
    if (another && !replace && !this.following) history.pushState(null, "", written); else history.replaceState(null, "", written);
  }

  private following = false;
  /** Goes where an address says. */
  private follow(address: Address | undefined): void {
    this.following = true;
    const index = (id: string) => this.page.reports.findIndex(report => report.id === id);
    if (address?.kind === "list") this.showList();
    else if (address?.kind === "report" && index(address.report) >= 0) {
      if (index(address.report) !== this.at || document.body.dataset["view"] !== "report") this.open(index(address.report));
      if (address.path !== undefined) this.select(address.path - 1, (address.step ?? 1) - 1);
    } else if (address?.kind === "compare") {
      const a = { report: index(address.a.report), path: address.a.path - 1 }, b = { report: index(address.b.report), path: address.b.path - 1 };
      if (!this.showCompare(a, b)) this.say("There are no such paths");
      else if (address.a.step !== undefined) this.comparison.goToStep("a", address.a.step - 1);
      else if (address.b.step !== undefined) this.comparison.goToStep("b", address.b.step - 1);
    }
    this.following = false;
  }

  private copyLink(): void {
    const address = location.href;
    const done = () => this.say(`Copied: ${location.hash}`), failed = () => this.say(address);
    try { navigator.clipboard.writeText(address).then(done, failed); } catch { failed(); }
  }

  /** Asks the server now and then whether reports or sources have changed. */
  private watch(token: string, version: number): void {
    setInterval(() => {
      void fetch("/version", { headers: { "X-Parallax-Token": token } }).then(answer => answer.text()).then(text => {
        if (/^\d+\s*$/.test(text) && Number(text) !== version) location.reload();
      }).catch(() => undefined);
    }, 1_000);
  }

  private openInEditor(): void {
    const column = this.columns[this.active], place = column?.placeOf(column.current), line = column?.path.steps[column.current ?? -1]?.l;
    const { editor } = this.page, source = place?.node.source;
    if (!editor) { this.say("No editor is set: parallax view --editor LINK"); return; }
    if (!source?.path) { this.say("This file is not here"); return; }
    // A link that a browser opens itself gets a tab of its own; the others leave the page where it is.
    h("a", { href: editorLink(editor, source.path, line ?? 1), target: "_blank", rel: "noopener noreferrer" }).click();
    this.say(`${source.name}:${line ?? 1}`);
  }

  /* Comparing ----------------------------------------------------------------------- */

  private arriving = false;
  private showCompare(a: PathRef, b: PathRef): boolean {
    document.body.dataset["view"] = "compare";
    // What is chosen while the view is made is where it begins: one address, one entry in the history.
    this.arriving = true;
    const shown = this.comparison.show(a, b);
    this.arriving = false;
    if (!shown) { document.body.dataset["view"] = "report"; return false; }
    const [one, other] = [this.page.reports[a.report], this.page.reports[b.report]];
    this.crumb.textContent = one === other ? `${one?.id}, paths ${a.path + 1} and ${b.path + 1}` : `${one?.id} and ${other?.id}`;
    if (one) this.title.replaceChildren(...titled(one.title).filter(child => !!child) as (Node | string)[]);
    this.addressCompare(true);
    return true;
  }

  private addressCompare(fresh: boolean): void {
    const { shown } = this.comparison;
    if (!shown) return;
    const steps = this.comparison.steps;
    const of = (ref: PathRef, step: number | undefined) => ({ report: this.page.reports[ref.report]?.id ?? "", path: ref.path + 1, ...(step !== undefined && { step: step + 1 }) });
    this.visit({ kind: "compare", a: of(shown[0], steps[0]), b: of(shown[1], steps[1]) }, !fresh);
  }

  /** Chooses what to compare the current path with, or another path for one side. */
  private pickOther(side: "a" | "b" = "b"): void {
    const { shown } = this.comparison, comparing = document.body.dataset["view"] === "compare" && shown;
    const from: PathRef = comparing ? (side === "a" ? shown[1] : shown[0]) : { report: this.at, path: this.active };
    pickPath(this.page, from, ref => { if (side === "a") this.showCompare(ref, from); else this.showCompare(from, ref); });
  }

  private leaveCompare(): void {
    const ref = this.comparison.shown?.[0];
    this.open(ref?.report ?? Math.max(this.at, 0));
    if (ref) this.select(ref.path, 0);
  }

  private compareKey(key: string): (() => void) | undefined {
    switch (key) {
      case "j": case "ArrowDown": return () => this.comparison.move(1);
      case "k": case "ArrowUp": return () => this.comparison.move(-1);
      case "h": case "ArrowLeft": return () => this.comparison.sideways("a");
      case "l": case "ArrowRight": return () => this.comparison.sideways("b");
      case "n": return () => this.comparison.difference(1);
      case "N": return () => this.comparison.difference(-1);
      case "D": return () => this.comparison.first();
      case "s": return () => this.comparison.swap();
      case "v": return () => this.pickOther();
      case "o": return () => { if (!this.comparison.column()?.toggleCurrentLoop()) this.say("No loop on this path"); };
      case "w": return () => this.comparison.column()?.origin();
      case "V": return () => this.toggleValues();
      case "e": return () => this.comparison.column()?.unfoldCurrent();
      case "E": return () => this.comparison.column()?.unfoldAll();
      case "C": return () => this.say(this.comparison.toggleChains() ? CHAINED : UNCHAINED);
      case "y": return () => this.copyLink();
      case "b": return () => this.showList();
      case "?": return () => this.showHelp();
      case "Escape": return () => this.leaveCompare();
      default: return undefined;
    }
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
    this.visit({ kind: "list" });
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

  private order: HTMLElement | undefined;

  private drawColumnButtons(): void {
    this.columnButtons.hidden = this.columns.length < 2;
    this.columnButtons.replaceChildren(...this.columns.map((column, number) =>
      h("button", { "data-col": number + 1, "aria-pressed": String(!column.element.hidden && !this.order), onclick: () => this.toggleColumn(number) }, this.columns.length > 6 ? String(number + 1) : `Path ${number + 1}`)),
      ...(matchMedia(NARROW).matches ? [h("button", { "data-col": "order", "aria-pressed": String(!!this.order), onclick: () => this.toggleOrder() }, "Order")] : []));
  }

  /** On a phone, the order of all paths takes the place of the one that is shown. */
  private toggleOrder(): void {
    const { report } = this;
    if (this.order) { this.order.remove(); this.order = undefined; }
    else if (report) this.columnsElement.append(this.order = orderElement(report, this.sources, (path, step) => { this.toggleOrder(); this.select(path, step); }));
    this.columnsElement.classList.toggle("ordered", !!this.order);
    this.drawColumnButtons();
    if (this.order) this.columnButtons.querySelector<HTMLElement>('[data-col="order"]')?.focus();
  }

  private toggleColumn(number: number): void {
    const column = this.columns[number];
    if (this.order) { this.toggleOrder(); if (column && !column.element.hidden) return; }
    if (!column || (!column.element.hidden && this.visible().length === 1)) return;
    // Where there is room for one, another takes its place.
    if (matchMedia(NARROW).matches) for (const other of this.columns) other.element.hidden = other !== column;
    else column.element.hidden = !column.element.hidden;
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
    if (matchMedia(NARROW).matches) this.sheet.show(column, step, this.columns.length - 1);
    if (this.report) this.visit({ kind: "report", report: this.report.id, path: path + 1, step: step + 1 }, true);
    const place = column.placeOf(step), line = column.path.steps[step]?.l;
    this.say(`Path ${path + 1}, step ${ordinalOf(column.path, step)} of ${stepCount(column.path)}${place?.node.source ? `, ${place.node.source.name}${line === undefined ? "" : `:${line}`}` : ""}`);
  }

  private move(by: number): void {
    const column = this.columns[this.active];
    if (!column) return;
    const next = column.neighbour(column.current ?? -1, by);
    if (next !== undefined) this.select(this.active, next);
  }

  private sideways(by: number): void {
    const order = this.visible(), to = order[Math.min(Math.max(order.indexOf(this.active) + by, 0), order.length - 1)];
    if (to !== undefined) this.select(to, this.columns[to]?.current ?? 0);
  }

  private failing(): void {
    const steps = this.columns[this.active]?.path.steps ?? [];
    this.select(this.active, steps.findLastIndex(step => step.x));
  }

  /** Where it goes wrong: of the next path, if there are several. */
  private otherAccess(): void {
    const path = this.columns.length > 1 ? (this.active + 1) % this.columns.length : this.active;
    const steps = this.columns[path]?.path.steps ?? [], failing = steps.findLastIndex(step => step.x);
    this.select(path, failing >= 0 ? failing : steps.length - 1);
  }

  /** On a phone the path, the report and the checklist take turns. */
  private showPart(part: Part): void {
    const wide = this.stage.classList.contains("wide");
    if (wide !== (part === "path")) this.togglePanel();
    const verdict = this.checklist.element.querySelector(".verdict");
    if (part !== "path") (part === "report" ? this.card.element : part === "verdict" && verdict ? verdict : this.checklist.element).scrollIntoView({ block: part === "verdict" ? "end" : "start" });
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

  private toggleValues(): void {
    const all = document.body.dataset["values"] !== "all";
    if (all) document.body.dataset["values"] = "all"; else delete document.body.dataset["values"];
    this.say(all ? "All values are shown" : "Values are shown where they change");
  }

  private toggleTheme(): void {
    const root = document.documentElement;
    const dark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset["theme"] = dark ? "light" : "dark";
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && document.body.dataset["view"] === "list") { if (!this.list.grouped?.apply()) this.say("Nothing is selected"); return; }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { if (!this.checklist.submit()) this.say("Not all questions are answered yet"); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || this.help?.open) return;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (target.matches("input[type=text], textarea")) { if (event.key === "Escape") target.blur(); return; }
    // Radio buttons and tabs have arrow keys of their own, buttons have Enter.
    if (event.key.startsWith("Arrow") && !target.matches(".step, body, .scroller, tr a, [role=treeitem]")) return;
    if (event.key === "Enter" && target.matches("button, a:not(tr a)")) return;
    const view = document.body.dataset["view"];
    const run = view === "list" ? this.listKey(event.key) : view === "compare" ? this.compareKey(event.key) : this.reportKey(event.key);
    if (run) { event.preventDefault(); run(); }
  }

  private listKey(key: string): (() => void) | undefined {
    switch (key) {
      case "j": case "ArrowDown": return () => this.list.step(1);
      case "k": case "ArrowUp": return () => this.list.step(-1);
      case "Enter": return () => this.list.openSelected();
      case "/": return () => this.list.focusFilter();
      case "J": return () => this.list.grouped?.stepGroup(1);
      case "K": return () => this.list.grouped?.stepGroup(-1);
      case "x": return () => this.list.grouped?.toggle();
      case "X": return () => this.list.grouped?.selectAlike();
      case "T": return () => this.list.grouped?.judge("true");
      case "F": return () => this.list.grouped?.judge("false");
      case "U": return () => this.list.grouped?.judge("unsure");
      case "z": return () => this.list.grouped?.undo();
      case "p": return () => this.list.togglePane();
      case "r": return () => { if (this.list.grouped) this.list.pane.choose("rule", true); };
      case "a": return () => { if (this.list.grouped) this.list.pane.take(); };
      case "A": return () => { if (this.list.grouped) this.list.pane.preview(); };
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
      case "o": return () => { if (!column?.toggleCurrentLoop()) this.say("No loop on this path"); };
      case "w": return () => column?.origin();
      case "V": return () => this.toggleValues();
      case "C": return () => { const closed = this.columns.map(one => one.toggleChains()); this.say(closed[0] ? CHAINED : UNCHAINED); };
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
      case "v": return () => this.pickOther();
      case "y": return () => this.copyLink();
      case "i": return () => this.openInEditor();
      case "r": return () => this.card.showRule();
      case "?": return () => this.showHelp();
      case "Escape": return () => { this.columns.some(one => one.closeDefinition()); };
      default: return undefined;
    }
  }
}

function hints(kind: string, rows: readonly (readonly [string, string])[]): HTMLElement {
  return h("span", { class: `hints ${kind}`, "aria-hidden": "true" }, rows.map(([keys, what]) => h("span", {}, keys.split(" ").map(key => h("kbd", {}, key)), what)));
}
