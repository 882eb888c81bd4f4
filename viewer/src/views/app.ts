// The application: the list, one report, or two paths compared; what leads from one to another, and where answers go.

import { nameOf, parseAddress, reportAt, type Address, type PathAddress, type ReportName } from "../lib/address.ts";
import { MANY } from "../lib/groups.ts";
import { progress } from "../lib/list.ts";
import type { Page, Report, TriageRecord } from "../lib/page.ts";
import { sourcesOf } from "../lib/source.ts";
import { setTheme, toggleTheme, toggleValues } from "./appearance.ts";
import { NARROW } from "./column.ts";
import { CompareView } from "./compare.ts";
import { h } from "./dom.ts";
import { helpDialog } from "./help.ts";
import { compareKeys, listen, listKeys, reportKeys, type Commands } from "./keys.ts";
import { ListView } from "./list.ts";
import { showMenu, type MenuItem } from "./menu.ts";
import type { PathRef } from "./pair.ts";
import { pickPath } from "./picker.ts";
import { ReadingView } from "./reading.ts";
import { StatusBar } from "./status.ts";
import { Storage } from "./storage.ts";
import { TopBar } from "./topbar.ts";
import { copyAddress, Visits } from "./visits.ts";
import { watch } from "./watch.ts";

type View = "list" | "report" | "compare";

export class App implements Commands {
  private readonly storage: Storage;
  private readonly top: TopBar;
  private readonly status = new StatusBar();
  private readonly list: ListView;
  private readonly reading: ReadingView;
  private readonly comparison: CompareView;
  private readonly visits = new Visits(address => this.follow(address));
  private help: HTMLDialogElement | undefined;
  /** The report that is open, or was last. */
  private at = -1;
  /** Whether a comparison is being made, whose first step is part of its address. */
  private arriving = false;

  constructor(private readonly page: Page) {
    const sources = sourcesOf(page), say = (text: string) => this.say(text), link = () => this.copyLink();
    this.storage = new Storage(page, { say, changed: keys => this.changed(keys), waiting: count => this.status.waiting(count) });
    this.top = new TopBar(page, { list: () => this.showList(), path: () => this.leaveCompare(), go: by => this.go(by), menu: () => this.showMenu(), theme: toggleTheme, help: () => this.showHelp() });
    this.list = new ListView(page, sources, {
      open: (index, path, step) => { this.open(index); if (path !== undefined) this.reading.columns.select(path, step ?? 0); },
      say, records: () => this.storage.records, author: () => this.storage.author,
      perhaps: at => this.perhapsOf(at).map(({ name, record }) => ({ name, record })), confirm: indexes => this.confirmMany(indexes),
      saveMany: records => { this.storage.saveMany(records); this.drawProgress(); },
      earlier: () => this.storage.earlier !== undefined, saveEarlier: () => this.storage.downloadEarlier(), elsewhere: () => this.storage.elsewhere,
      download: () => this.storage.download(), upload: file => void this.upload(file),
    });
    this.reading = new ReadingView(page, sources, {
      selected: (path, step) => { if (this.report) this.visits.visit({ kind: "report", ...nameOf(this.report), path: path + 1, step: step + 1 }, true); },
      say, link,
      answers: {
        save: (record, submitted) => this.save(record, submitted), known: () => this.known, author: () => this.storage.author, setAuthor: name => { this.storage.author = name; },
        perhaps: () => this.perhapsOf(this.at), confirm: key => this.confirm(this.at, key),
        say,
        settle: (field, value) => { if (this.report) { this.storage.settle(this.report.fingerprint, field, value); this.changed(new Set([this.report.fingerprint])); } },
      },
    });
    this.comparison = new CompareView(page, sources, { say, link, pick: side => this.compare(side), moved: () => { if (!this.arriving) this.addressPair(false); }, leave: () => this.leaveCompare(), values: () => this.showValues() });
  }

  /** Opens what the address asks for; a report that waits for triage by default. */
  start(body: HTMLElement, options: URLSearchParams, word: string): void {
    const theme = options.get("theme");
    if (theme) setTheme(theme);
    this.reading.search.added = options.getAll("q");
    const address = parseAddress(word), { columns } = this.reading;
    const asked = address?.kind === "report" ? reportAt(this.page.reports, address) : -1;
    const waiting = this.list.all().find(row => row.state === "open" || row.state === "started")?.index ?? 0;
    this.open(asked >= 0 ? asked : waiting);
    if (asked >= 0 && address?.kind === "report") { this.selectAddressed(address, false); this.renamed(address, asked); }
    if (options.get("unfold") === "all") for (const column of columns.all) column.unfoldAll();
    const tab = Number(options.get("tab"));
    if (tab > 0) this.reading.checklist.openTab(tab - 1);
    this.mount(body);
    if (matchMedia(NARROW).matches) this.reading.togglePanel();
    const unknown = address?.kind === "report" && asked < 0 && word !== "help";
    if (word === "list" || unknown || this.page.reports.length === 0) this.showList();
    if (unknown) this.missing(address);
    // A page of hundreds is met as a list; one report, where the work is.
    else if (asked < 0 && this.page.reports.length >= MANY && address?.kind !== "compare") this.showList();
    if (address?.kind === "compare") this.visits.follow(address);
    // In a long function the first step may be far down.
    columns.showCurrent();
    if (word === "help") this.showHelp();
    // The rest of what is on screen already can wait until it is.
    requestAnimationFrame(() => setTimeout(() => { for (const column of columns.all) column.drawWindow(); }));
  }

  /** Puts the page together; to be called when its first view is drawn, so that the browser lays it out once. */
  private mount(body: HTMLElement): void {
    const { columns } = this.reading;
    const skip = (event: Event) => { event.preventDefault(); columns.select(columns.active, columns.current?.current ?? 0); };
    body.append(h("a", { class: "skip", href: "#main", onclick: skip }, "Skip to the paths"), this.top.element, this.reading.element, this.comparison.element, this.list.element, this.status.element);
    const keys = { list: listKeys(this.list, this), report: reportKeys(this.reading, this), compare: compareKeys(this.comparison, this) };
    const places = { list: "in the list", report: "in a report", compare: "between two paths" } as const;
    /** Says of a key that means nothing here where it means something. */
    const elsewhere = (key: string) => {
      const where = (Object.keys(places) as View[]).filter(view => key in keys[view]).map(view => places[view]);
      if (where.length > 0) this.say(`${key} works ${where.join(" and ")}`);
    };
    listen(() => keys[this.view], () => this.submit(), () => this.help?.open ?? false, elsewhere);
    if (this.page.server?.version !== undefined) watch(this.page.server.token, this.page.server.version);
    addEventListener("beforeprint", () => { for (const column of columns.all) column.drawWhole(); });
    for (const event of ["afterprint", "resize"]) addEventListener(event, () => { for (const column of columns.all) column.drawWindow(); });
  }

  private get view(): View { return document.body.dataset["view"] as View; }
  private set view(view: View) { document.body.dataset["view"] = view; }
  private get report(): Report | undefined { return this.page.reports[this.at]; }

  say(text: string): void { this.status.say(text); }
  copyLink(): void { copyAddress(text => this.say(text)); }
  showValues(): void { this.say(toggleValues()); }

  showHelp(): void {
    if (!this.help) document.body.append(this.help = helpDialog());
    this.help.showModal();
  }

  private showMenu(): void {
    const { columns } = this.reading;
    const ofReport: readonly MenuItem[] = [["prev", "Previous report", () => this.go(-1)], ["next", "Next report", () => this.go(1)], ["swap", "Compare with another path", () => this.compare()],
      ["fold", "Close calls that are only passed on", () => { for (const column of columns.all) column.toggleChains(); }]];
    showMenu([...(this.view === "report" ? ofReport : []), ["save", "Save answers", () => this.storage.download()], ...(this.view === "list" ? [] : [["list", "All reports", () => this.showList()] as const]),
      ["theme", "Light or dark", toggleTheme], ["unsure", "Keys and signs", () => this.showHelp()]]);
  }

  /* From view to view ------------------------------------------------------------- */

  private open(index: number): void {
    const report = this.page.reports[index];
    if (!report) return;
    this.view = "report";
    this.at = index;
    this.top.showReport(report);
    this.visits.visit({ kind: "report", ...nameOf(report) });
    this.reading.open(report, this.storage.records[report.fingerprint]);
    this.drawProgress();
  }

  /** Says that the report of an address is not there. What has its name now is another one, or one whose code has changed. */
  private missing({ report, key }: ReportName): void {
    const namesake = key === undefined ? -1 : reportAt(this.page.reports, { report });
    if (namesake < 0) { this.say(`There is no report ${report.slice(0, 40)} here`); return; }
    if (this.view === "list") this.list.pickReport(namesake);
    this.say(`The report of this link is not here: ${report} is another one now, or its code has changed`);
  }

  private renamed({ report }: ReportName, index: number): void {
    const name = this.page.reports[index]?.id;
    if (name !== undefined && name !== report) this.say(`${report} of this link is ${name} now`);
  }

  /** Goes to the path and the step of an address, or says that they are not there. */
  private selectAddressed({ report, path = 1, step }: { report: string; path?: number; step?: number }, focus = true): void {
    const data = this.report?.paths[path - 1];
    if (path === 1 && step === undefined) return;
    if (!data) this.say(`${report} has ${this.report?.paths.length ?? 0} ${this.report?.paths.length === 1 ? "path" : "paths"}, not ${path}`);
    else if (step !== undefined && step > data.steps.length) this.say(`Path ${path} of ${report} has ${data.steps.length} ${data.steps.length === 1 ? "step" : "steps"}, not ${step}`);
    else this.reading.columns.select(path - 1, (step ?? 1) - 1, focus);
  }

  showReport(): void { this.open(Math.max(this.at, 0)); }

  go(by: number): void {
    const next = this.list.neighbour(this.at, by);
    if (next === undefined) this.say(by > 0 ? "That was the last report" : "That was the first report");
    else this.open(next);
  }

  showList(): void {
    this.view = "list";
    this.top.showList();
    this.visits.visit({ kind: "list" });
    this.list.draw();
    if (this.at >= 0) this.list.pickReport(this.at);
  }

  private showPair(a: PathRef, b: PathRef): boolean {
    const before = this.view, [one, other] = [this.page.reports[a.report], this.page.reports[b.report]];
    this.view = "compare";
    // What is chosen while the view is made is where it begins: one address, one entry in the history.
    this.arriving = true;
    const shown = this.comparison.show(a, b);
    this.arriving = false;
    if (!shown || !one || !other) { this.view = before; return false; }
    this.top.showPair({ report: one, path: a.path }, { report: other, path: b.path });
    this.addressPair(true);
    return true;
  }

  private addressPair(fresh: boolean): void {
    const { shown, steps } = this.comparison;
    if (!shown) return;
    const of = (ref: PathRef, step: number | undefined) => ({ ...nameOf(this.page.reports[ref.report]!), path: ref.path + 1, ...(step !== undefined && { step: step + 1 }) });
    this.visits.visit({ kind: "compare", a: of(shown[0], steps[0]), b: of(shown[1], steps[1]) }, !fresh);
  }

  /** Chooses what to compare the current path with, or another path for one side. */
  compare(side: "a" | "b" = "b"): void {
    const { shown } = this.comparison;
    const from: PathRef = this.view === "compare" && shown ? (side === "a" ? shown[1] : shown[0]) : { report: this.at, path: this.reading.columns.active };
    pickPath(this.page, from, ref => { if (side === "a") this.showPair(ref, from); else this.showPair(from, ref); });
  }

  leaveCompare(): void {
    const ref = this.comparison.shown?.[0];
    this.open(ref?.report ?? Math.max(this.at, 0));
    if (ref) this.reading.columns.select(ref.path, this.reading.columns.all[ref.path]?.first ?? 0);
  }

  /** Goes where an address says. */
  private follow(address: Address | undefined): void {
    if (address?.kind === "list") this.showList();
    else if (address?.kind === "report") {
      const index = reportAt(this.page.reports, address);
      if (index < 0) { this.missing(address); return; }
      if (index !== this.at || this.view !== "report") this.open(index);
      this.selectAddressed(address);
      this.renamed(address, index);
    } else if (address?.kind === "compare") {
      const ref = (of: PathAddress): PathRef => ({ report: reportAt(this.page.reports, of), path: of.path - 1 });
      if (!this.showPair(ref(address.a), ref(address.b))) this.say("There are no such paths");
      else if (address.a.step !== undefined) this.comparison.goToStep("a", address.a.step - 1);
      else if (address.b.step !== undefined) this.comparison.goToStep("b", address.b.step - 1);
    }
  }

  /* Answers ----------------------------------------------------------------------- */

  private drawProgress(): void {
    const { triaged, total } = progress(this.list.all());
    this.top.showProgress(triaged, total);
  }

  private submit(): void {
    if (this.view === "list") { if (!this.list.judging.apply()) this.say("Nothing is selected"); }
    // Where the checklist is not in sight, nothing is submitted.
    else if (this.view === "compare") this.say("A verdict is submitted in a report, or in the list");
    else if (!this.reading.checklist.submit()) this.say("Not all questions are answered yet");
  }

  private get known(): TriageRecord | undefined { return this.report && this.storage.record(this.report.fingerprint); }

  /** Records of before that may be about a report on which nothing is said yet. */
  private perhapsOf(at: number): { key: string; name: string; record: TriageRecord }[] {
    const report = this.page.reports[at];
    if (!report?.perhaps || this.storage.record(report.fingerprint)) return [];
    return this.storage.perhaps(report.perhaps).map(key => ({ key, name: this.storage.named(key), record: this.storage.record(key)! }));
  }

  /** A report is the one that a record of before is about. */
  private confirm(at: number, key: string): void {
    const report = this.page.reports[at];
    if (!report) return;
    this.storage.confirm(report.fingerprint, key);
    this.changed(new Set([report.fingerprint]));
    this.say(`${report.id} is ${this.storage.named(key)} of before`);
  }

  /** Confirms the likeliest record of before for each of some reports; says of how many. */
  private confirmMany(indexes: readonly number[]): number {
    let done = 0;
    for (const at of indexes) {
      const [first] = this.perhapsOf(at), report = this.page.reports[at];
      if (!first || !report) continue;
      this.storage.confirm(report.fingerprint, first.key);
      done++;
    }
    if (done > 0) this.changed(new Set());
    return done;
  }

  /** Draws anew what other tabs, the server or a confirmation have changed. */
  private changed(keys: ReadonlySet<string>): void {
    this.drawProgress();
    if (this.view === "list") this.list.draw();
    else if (this.report && keys.has(this.report.fingerprint)) this.reading.checklist.refresh(this.known);
  }

  private save(record: TriageRecord, submitted: boolean): TriageRecord {
    const { report } = this;
    if (!report) return record;
    const kept = this.storage.save(report.fingerprint, record);
    this.drawProgress();
    if (submitted) this.onward(report);
    return kept;
  }

  /** From a report that was judged to the next that waits. */
  private onward(report: Report): void {
    const rows = this.list.all(), waits = (index: number) => rows[index]?.state === "open" || rows[index]?.state === "started";
    const order = [...rows.keys()].slice(this.at + 1).concat([...rows.keys()].slice(0, this.at));
    const next = order.find(waits);
    if (next === undefined) this.showList(); else this.open(next);
    this.say(next === undefined ? "All reports are triaged" : `${report.id} submitted`);
  }

  private async upload(file: File): Promise<void> {
    const words = this.storage.load(await file.text(), file.name);
    this.list.draw();
    this.drawProgress();
    this.say(words);
  }
}
