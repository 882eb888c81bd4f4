// The report in the tool's own words, every step of it a link into the columns, and the columns linking back.

import { badgeOf, calleesOf, locksOf, pathTitle, summaryOf } from "../lib/describe.ts";
import type { Page, Report, Segment } from "../lib/page.ts";
import type { Source } from "../lib/source.ts";
import { linesOf, placeAndWords, type TextLine } from "../lib/text.ts";
import { h, titled } from "./dom.ts";
import { badge } from "./line.ts";
import { fixElement, markdown, ruleElement } from "./rule.ts";
import { Windowed } from "./windowed.ts";

const ROW = 20;
/** Texts with more lines are drawn piece by piece, one row each. */
const DRAWN_WHOLE = 400;

export interface ReportEvents {
  select(path: number, step: number): void;
  hover(path: number, step: number | undefined): void;
  related(index: number): void;
}

export class ReportCard {
  readonly element: HTMLElement;
  private readonly text: HTMLElement;
  /** Long lists of steps, and which row of them shows a step. */
  private lists: { readonly list: Windowed; row(path: number, step: number): number | undefined }[] = [];
  private marked: { readonly path: number; readonly step: number } | undefined;

  constructor(private readonly page: Page, private readonly sources: readonly Source[], private readonly events: ReportEvents) {
    this.text = h("div", { class: "report-text" });
    this.element = h("section", { class: "card report-card", "aria-labelledby": "report-heading", tabindex: -1 },
      h("header", {}, h("h2", { id: "report-heading" }, "Report"), h("span", { class: "dim tool-line" })), this.text);
    this.text.addEventListener("click", event => {
      const link = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-index], [data-related]") : null;
      if (!link) return;
      event.preventDefault();
      if (link.dataset["related"] !== undefined) this.events.related(Number(link.dataset["related"]));
      else this.events.select(Number(link.dataset["path"]) - 1, Number(link.dataset["index"]) - 1);
    });
    const hover = (event: Event, on: boolean) => {
      const link = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-index]") : null;
      if (link) this.events.hover(Number(link.dataset["path"]) - 1, on ? Number(link.dataset["index"]) - 1 : undefined);
    };
    for (const name of ["mouseover", "focusin"]) this.text.addEventListener(name, event => hover(event, true));
    for (const name of ["mouseout", "focusout"]) this.text.addEventListener(name, event => hover(event, false));
  }

  show(report: Report): void {
    for (const { list } of this.lists) list.stop();
    this.lists = [];
    this.element.scrollTop = 0;
    const rule = report.help === undefined ? undefined : this.page.rules?.[report.help];
    const line = [report.tool, ...(report.cwe ?? []).map(number => `CWE-${number}`), rule?.score && `score ${rule.score}`, report.rank !== undefined && `rank ${report.rank}`,
      report.occurrences !== undefined && report.occurrences > 1 && `seen ${report.occurrences} times`, report.baseline === "new" && "new", report.baseline === "absent" && "fixed", report.passed && "known good"].filter(Boolean).join(", ");
    this.element.querySelector(".tool-line")!.textContent = line;
    const linked = new Set(report.text.flatMap(segment => (segment.link && "step" in segment.link ? [segment.link.step.path] : [])));
    this.text.replaceChildren(this.words(report));
    if (report.markdown) this.text.append(markdown(report.markdown));
    for (const fix of report.fixes ?? []) this.text.append(h("p", { class: "rt-head" }, "Proposed fix"), fixElement(fix));
    if (report.suppressed !== undefined) this.text.append(h("p", { class: "rt-suppressed" }, `Suppressed${report.suppressed ? `: ${report.suppressed}` : ""}`));
    report.paths.forEach((path, number) => {
      if (linked.has(number)) return; // The tool's own text tells this path already.
      const title = pathTitle(path);
      const container = h("div", { class: "refs" });
      this.text.append(h("p", { class: "rt-head" }, `Path ${number + 1}`, title && h("span", { class: "dim" }, "  ", titled(title))), container);
      const callees = calleesOf(path), homes = new Map<number, number | undefined>();
      for (const frame of path.frames) for (const item of frame.items) if (item >= 0) homes.set(item, frame.file);
      const row = (step: number): HTMLElement => {
        const data = path.steps[step]!;
        const source = this.sources[data.f ?? homes.get(step) ?? -1];
        const place = source ? `${source.name}${data.l === undefined ? "" : `:${data.l}`}` : "";
        const code = data.l === undefined ? "" : source?.line(data.l).text ?? "";
        return this.reference(number, step, `ref ${badgeOf(data)}`, badge(step, path),
          h("span", { class: "loc", title: place }, short(place)), h("span", { class: "what", title: data.m ?? "" }, summaryOf(data, callees.get(step), code)));
      };
      // Lines that are merely passed are in the code, not in the story.
      const told = path.steps.flatMap((step, at) => (step.p ? [] : [at])), rows = new Map(told.map((step, at) => [step, at]));
      this.lists.push({ list: new Windowed(container, this.element, told.length, ROW, at => row(told[at]!)), row: (path, step) => (path === number ? rows.get(step) : undefined) });
      const locks = locksOf(path.steps.findLast(step => step.x));
      if (locks) this.text.append(h("p", { class: "rt-locks" }, `locks held: ${locks.length ? locks.join(", ") : "<empty>"}`));
    });
    const told = new Set(report.text.flatMap(segment => (segment.link && "related" in segment.link ? [segment.link.related] : [])));
    const untold = report.related.map((related, at) => ({ related, at })).filter(({ at }) => !told.has(at));
    if (untold.length) {
      this.text.append(h("p", { class: "rt-head" }, "See also"), h("div", { class: "refs" }, untold.map(({ related, at }) =>
        h("a", { class: "ref", href: "#", "data-related": at }, h("span", { class: "loc", title: related.place }, short(related.place)), h("span", { class: "what", title: related.message }, related.message)))));
    }
    const help = ruleElement(report, this.page);
    if (help) this.text.append(h("details", { class: "rule-details" }, h("summary", {}, `About ${report.rule}`), help));
    this.mark();
  }

  /** Opens what the tool says about the rule. */
  /** Opens or closes what is said about the rule; whether anything is. */
  showRule(): boolean {
    const details = this.text.querySelector<HTMLDetailsElement>(".rule-details");
    if (details) { details.open = !details.open; details.scrollIntoView({ block: "nearest" }); details.querySelector("summary")?.focus(); }
    return !!details;
  }

  /** The tool's words, line by line as the tool has them. */
  private words(report: Report): HTMLElement {
    const lines = linesOf(report.text.length ? report.text : [{ text: report.title }]);
    const words = h("div", { class: "words" });
    const draw = (at: number) => this.line(lines[at]!, report);
    if (lines.length <= DRAWN_WHOLE) {
      words.append(...lines.map((_, at) => draw(at)));
      return words;
    }
    words.classList.add("dense");
    const rows = new Map<string, number>();
    lines.forEach(({ pieces }, at) => { for (const { link } of pieces) if (link && "step" in link) rows.set(`${link.step.path}.${link.step.step}`, at); });
    this.lists.push({ list: new Windowed(words, this.element, lines.length, ROW, draw), row: (path, step) => rows.get(`${path}.${step}`) });
    return words;
  }

  private line({ kind, indent, pieces }: TextLine, report: Report): HTMLElement {
    const line = h("div", { class: `rt-line rt-${kind}` });
    if (indent) line.style.setProperty("--indent", `${Math.min(indent, 12)}`);
    const [only] = pieces;
    const row = kind === "step" && only ? this.stepRow(only, report) : undefined;
    line.append(...(row ? [row] : pieces.map(piece => this.segment(piece, report))));
    return line;
  }

  /** A line that is one step, as a row of the step list. */
  private stepRow({ text, link }: Segment, report: Report): HTMLElement | undefined {
    const target = link && "step" in link ? link.step : undefined, path = target && report.paths[target.path], step = target && path?.steps[target.step];
    if (!target || !path || !step) return undefined;
    const [place, words] = placeAndWords(text);
    return this.reference(target.path, target.step, `ref ${badgeOf(step)}`, badge(target.step, path),
      ...(place ? [h("span", { class: "loc", title: place }, short(place))] : []), h("span", { class: "what" }, words));
  }

  private segment(segment: Segment, report: Report): Node | string {
    const { link } = segment;
    if (!link) return segment.text;
    if ("url" in link) return h("a", { class: "marker", href: link.url, rel: "noopener noreferrer", target: "_blank" }, segment.text);
    if ("related" in link) return h("a", { class: "marker", href: "#", "data-related": link.related }, segment.text);
    const path = report.paths[link.step.path], step = path?.steps[link.step.step];
    if (!path || !step) return segment.text;
    return this.reference(link.step.path, link.step.step, `ref inline ${badgeOf(step)}`, badge(link.step.step, path), h("span", { class: "what" }, segment.text));
  }

  private reference(path: number, step: number, kind: string, ...children: HTMLElement[]): HTMLElement {
    const current = this.marked?.path === path && this.marked.step === step;
    return h("a", { class: current ? `${kind} current` : kind, href: "#", "data-path": path + 1, "data-index": step + 1 }, ...children);
  }

  /** Marks the step that is current in the columns. */
  mark(path?: number, step?: number): void {
    if (path !== undefined && step !== undefined) {
      this.marked = { path, step };
      for (const { list, row } of this.lists) {
        const at = row(path, step);
        if (at !== undefined) list.show(at);
      }
    }
    for (const old of this.text.querySelectorAll(".current")) old.classList.remove("current");
    if (!this.marked) return;
    const now = this.text.querySelectorAll<HTMLElement>(`.ref[data-path="${this.marked.path + 1}"][data-index="${this.marked.step + 1}"]`);
    for (const one of now) one.classList.add("current");
    if (now[0]?.closest(".words:not(.dense)")) now[0].scrollIntoView({ block: "nearest" });
  }

  forget(): void { this.marked = undefined; }

  link(path: number, step: number | undefined): void {
    for (const old of this.text.querySelectorAll(".linked")) old.classList.remove("linked");
    if (step === undefined) return;
    for (const one of this.text.querySelectorAll(`.ref[data-path="${path + 1}"][data-index="${step + 1}"]`)) one.classList.add("linked");
  }
}

/** A place without its folders, if it is long: the name and the line tell more. */
const short = (place: string): string => (place.length <= 12 ? place : place.split("/").pop() ?? place);
