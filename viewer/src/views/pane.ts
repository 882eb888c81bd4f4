// Beside the list: what the rule means and what edit is proposed, the path in short, the reports alike, and who judged when.

import { badgeOf, calleesOf, pathTitle, plural, summaryOf } from "../lib/describe.ts";
import { filesOf, type Family, type Group, type Member } from "../lib/groups.ts";
import type { Page, Report, TriageRecord } from "../lib/page.ts";
import { fitting, fixOf, patchOf } from "../lib/patch.ts";
import type { Source } from "../lib/source.ts";
import { historyOf, STATE_NAMES } from "../lib/triage.ts";
import { framesOf } from "../lib/values.ts";
import { h, icon, prose, titled } from "./dom.ts";
import { badge } from "./line.ts";
import { fixElement, ruleElement } from "./rule.ts";

type Tab = "rule" | "path" | "alike" | "history";
const TABS: readonly (readonly [Tab, string])[] = [["rule", "Rule"], ["path", "Path"], ["alike", "Alike"], ["history", "History"]];
/** Of a path, so many steps are told here; the path itself has all. */
const TOLD = 200;

export interface PaneEvents {
  open(index: number, path?: number, step?: number): void;
  pick(index: number): void;
  records(): Readonly<Record<string, TriageRecord>>;
  say(text: string): void;
}

export class Pane {
  readonly element = h("aside", { class: "help-pane", "aria-label": "About the report" });
  private readonly heads = h("div", { class: "tabs", role: "tablist", "aria-label": "About the report" });
  private readonly body = h("div", { class: "hb", role: "tabpanel", id: "pane-panel", tabindex: 0 });
  private tab: Tab = "rule";
  private member: Member | undefined;
  private group: Group | undefined;

  constructor(private readonly page: Page, private readonly sources: readonly Source[], private readonly events: PaneEvents) {
    this.element.append(this.heads, this.body);
  }

  show(member: Member | undefined, group: Group | undefined, family: Family | undefined): void {
    this.member = member;
    this.group = group;
    this.body.scrollTop = 0;
    if (!member) { this.heads.replaceChildren(); this.body.replaceChildren(h("p", { class: "dim" }, family ? family.title : "Nothing is selected.")); return; }
    this.draw();
  }

  choose(tab: Tab, focus = false): void {
    this.tab = tab;
    this.body.scrollTop = 0;
    this.draw();
    if (focus) this.heads.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  }

  private draw(): void {
    const { member, group } = this;
    if (!member) return;
    this.heads.replaceChildren(...TABS.map(([tab, name], at) => h("button", {
      role: "tab", id: `pane-${tab}`, "aria-selected": String(this.tab === tab), "aria-controls": "pane-panel", tabindex: this.tab === tab ? 0 : -1, onclick: () => this.choose(tab, true),
      onkeydown: (event: KeyboardEvent) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (by) { this.choose(TABS[(at + by + TABS.length) % TABS.length]![0], true); event.preventDefault(); event.stopPropagation(); }
      },
    }, name, tab === "alike" && group ? ` ${group.members.length}` : "")));
    this.body.setAttribute("aria-labelledby", `pane-${this.tab}`);
    const { report } = member.row;
    this.body.replaceChildren(...(this.tab === "rule" ? this.rule(report) : this.tab === "path" ? this.path(report, member.row.index) : this.tab === "alike" ? this.alike(member) : this.history(report)));
  }

  /* Rule ----------------------------------------------------------------------------- */

  private rule(report: Report): Node[] {
    const rule = report.help === undefined ? undefined : this.page.rules?.[report.help], checklist = this.page.checklists[report.checklist];
    const out: Node[] = [
      h("h2", {}, titled(report.title)),
      h("p", { class: "hid" }, h("code", {}, report.rule), ...(report.cwe ?? []).map(number => h("span", {}, `CWE-${number}`)), h("span", {}, report.tool),
        rule?.score ? h("span", {}, `score ${rule.score}`) : null, report.rank === undefined ? null : h("span", {}, `rank ${report.rank}`), report.occurrences && report.occurrences > 1 ? h("span", {}, `seen ${report.occurrences} times`) : null),
    ];
    const help = ruleElement(report, this.page);
    if (help) out.push(help);
    const when = ([["True if", checklist?.true_if], ["False if", checklist?.false_if]] as const).filter(([, text]) => text);
    if (when.length) out.push(h("dl", { class: "ht" }, when.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, prose(text ?? ""))])));
    out.push(...this.fixes(report), ...this.shared());
    return out;
  }

  private fixes(report: Report): Node[] {
    const { group } = this, fix = fixOf(report), place = report.place.split("/").pop() ?? "";
    if (!fix) return report.fixes?.length ? report.fixes.flatMap(one => [h("h3", {}, `Advice for ${place}`), fixElement(one)]) : [h("p", { class: "dim" }, "No fix is proposed.")];
    const out: Node[] = [h("h3", {}, `Fix, as proposed for ${place}`), fixElement(fix)];
    const { fits, other, without } = group ? fitting(report, group) : { fits: [], other: 0, without: 0 };
    if (group && group.members.length > 1) {
      const rest = [other > 0 && `${other} ${other === 1 ? "has" : "have"} another`, without > 0 && `${without} ${without === 1 ? "has" : "have"} none`].filter(Boolean).join(", ");
      out.push(h("p", { class: "dim" }, `The same edit is proposed for ${fits.length} of ${group.members.length}${rest ? `; ${rest}` : ""}.`));
    }
    out.push(h("div", { class: "fixrow" }, h("button", { class: "ghost", "data-act": "take", onclick: () => this.take() }, icon("copy"), "Copy as a patch", h("kbd", { "aria-hidden": "true" }, "a")),
      fits.length > 1 && h("button", { class: "ghost", "data-act": "preview", onclick: () => this.preview() }, `Preview ${fits.length}`, h("kbd", { "aria-hidden": "true" }, "A"))));
    return out;
  }

  /** Copies the edit of the current report, as a patch. */
  take(): void {
    const fix = this.member && fixOf(this.member.row.report);
    if (!fix) { this.events.say("No fix is proposed here"); return; }
    const { text } = patchOf([fix]);
    if (text === "") { this.events.say("The fix is of a file elsewhere"); return; }
    const done = () => this.events.say("Copied: apply it with patch -p1"), failed = () => this.events.say("This browser does not let the page copy; A saves a file");
    try { navigator.clipboard.writeText(text).then(done, failed); } catch { failed(); }
  }

  /** Shows the same edit in all places, to be saved as one patch. */
  preview(): void {
    const { member, group } = this, fix = member && fixOf(member.row.report);
    if (!member || !group || !fix) { this.events.say("No fix is proposed here"); return; }
    const fixes = fitting(member.row.report, group).fits.flatMap(one => fixOf(one.row.report) ?? []), { text, left } = patchOf(fixes);
    const save = () => {
      const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/x-patch" })), download: `${member.row.report.rule.replace(/[^\w.-]+/g, "-") || "fixes"}.patch` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
    };
    const dialog = h("dialog", { id: "fixes", "aria-labelledby": "fixes-heading", onclose: () => dialog.remove() },
      h("header", {}, h("h2", { id: "fixes-heading" }, `The same edit in ${plural(fixes.length, "place")}`), h("button", { class: "icon", "aria-label": "Close", onclick: () => dialog.close() }, icon("close"))),
      h("div", { class: "fix-list", tabindex: 0, role: "region", "aria-label": "Edits" }, fixes.map(one => fixElement(one)), left > 0 && h("p", { class: "dim" }, `${plural(left, "edit")} of lines that another edits too, or of files elsewhere, ${left === 1 ? "is" : "are"} left out of the patch.`)),
      h("footer", {}, h("span", { class: "dim" }, "patch -p1, in the folder of the sources"), h("span", { class: "grow" }), h("button", { class: "primary", "data-act": "save-patch", onclick: save }, "Save as a patch")));
    document.body.append(dialog);
    dialog.showModal();
  }

  private shared(): Node[] {
    const { group } = this;
    if (!group || group.members.length < 2) return [];
    const odd = group.members.filter(member => member.differs);
    const sinks = group.shapes[group.shapes.length - 1] ?? "";
    return [h("h3", {}, `What the ${group.members.length} share`), h("dl", { class: "share" },
      ...(group.shapes.length > 1 ? [h("dt", {}, "Source"), h("dd", {}, h("code", {}, group.shapes[0] ?? ""))] : []),
      ...(sinks ? [h("dt", {}, "Sink"), h("dd", {}, h("code", {}, sinks))] : []),
      h("dt", {}, "Files"), h("dd", {}, filesOf(group.members).slice(0, 6).map(([file, count]) => `${file} ${count}`).join(", ")),
      ...(odd.length ? [h("dt", {}, "Differs"), h("dd", {}, ...odd.slice(0, 6).flatMap((member, at) => [at > 0 ? ", " : "", this.link(member)]), `: ${odd[0]?.differs ?? ""}`)] : []))];
  }

  private link(member: Member): HTMLElement {
    return h("a", { class: "link", href: `#${member.row.report.id}`, onclick: (event: Event) => { event.preventDefault(); this.events.pick(member.row.index); } }, member.row.report.place.split("/").pop() ?? "");
  }

  /* Path ----------------------------------------------------------------------------- */

  private path(report: Report, index: number): Node[] {
    const out: Node[] = [];
    report.paths.forEach((path, number) => {
      const title = pathTitle(path), callees = calleesOf(path), homes = framesOf(path), told = path.steps.flatMap((step, at) => (step.p ? [] : [at]));
      out.push(h("h3", {}, report.paths.length > 1 ? `Path ${number + 1}` : plural(told.length, "step"), title && h("span", { class: "dim" }, "  ", titled(title))));
      out.push(h("div", { class: "refs" }, told.slice(0, TOLD).map(step => {
        const data = path.steps[step]!, source = this.sources[data.f ?? path.frames[homes.get(step) ?? -1]?.file ?? -1];
        const place = source ? `${source.name.split("/").pop() ?? ""}${data.l === undefined ? "" : `:${data.l}`}` : "";
        return h("a", { class: `ref ${badgeOf(data)}`, href: `#${report.id}/${number + 1}/${step + 1}`, onclick: (event: Event) => { event.preventDefault(); this.events.open(index, number, step); } },
          badge(step, path), h("span", { class: "loc", title: place }, place), h("span", { class: "what", title: data.m ?? "" }, summaryOf(data, callees.get(step), data.l === undefined ? "" : source?.line(data.l).text ?? "")));
      })));
      if (told.length > TOLD) out.push(h("p", { class: "dim" }, `${told.length - TOLD} more on the path`));
    });
    out.push(h("div", { class: "fixrow" }, h("button", { class: "ghost", onclick: () => this.events.open(index) }, "Read the path", h("kbd", { "aria-hidden": "true" }, "Enter"))));
    return out.length > 1 ? out : [h("p", { class: "dim" }, "The report names one place and no path."), ...out];
  }

  /* Alike ---------------------------------------------------------------------------- */

  private alike(member: Member): Node[] {
    const { group } = this;
    if (!group || group.members.length < 2) return [h("p", { class: "dim" }, "No other report of this rule has the same statement, or the same source and sink.")];
    return [h("p", { class: "dim" }, group.why || "same statement"), h("div", { class: "like" }, group.members.slice(0, TOLD).map(one =>
      h("a", { class: one === member ? "like-row on" : "like-row", href: `#${one.row.report.id}`, "aria-current": one === member ? "true" : undefined, onclick: (event: Event) => { event.preventDefault(); this.events.pick(one.row.index); } },
        h("span", { class: `state ${one.row.state}`, title: STATE_NAMES[one.row.state] }, icon(one.row.state)), h("span", { class: "loc mono", title: one.row.report.place }, one.row.report.place.split("/").pop() ?? ""),
        h("code", {}, one.code || one.row.report.title), one.differs && h("span", { class: "bdg odd" }, one.differs)))),
      ...(group.members.length > TOLD ? [h("p", { class: "dim" }, `${group.members.length - TOLD} more`)] : [])];
  }

  /* History -------------------------------------------------------------------------- */

  private history(report: Report): Node[] {
    const rows: Node[] = [];
    const row = (name: string, when: string, ...what: (Node | string)[]) => rows.push(h("li", {}, h("span", { class: "state" }, icon(name)), h("div", {}, what), h("span", { class: "dim" }, when)));
    for (const { verdict, author, time, note } of [...historyOf(this.events.records()[report.fingerprint])].reverse()) {
      row(verdict ?? "open", `${time.slice(0, 10)} ${time.slice(11, 16)}`, h("b", {}, verdict ? STATE_NAMES[verdict] : "Taken back"), author ? ` by ${author}` : "", note ? h("p", {}, note) : "");
    }
    if (report.suppressed !== undefined) row("false", "", h("b", {}, "Suppressed by the tool"), report.suppressed ? h("p", {}, report.suppressed) : "");
    const against = this.page.against?.split("/").pop() ?? "the earlier run", made = new Date(this.page.made * 1000).toISOString();
    const found = { new: `New: not in ${against}`, unchanged: `Also in ${against}`, updated: `Also in ${against}, changed`, absent: `Not found any more; it was in ${against}` };
    row("open", `${made.slice(0, 10)} ${made.slice(11, 16)}`, h("b", {}, report.baseline ? found[report.baseline] : "Found"), ` by ${report.tool || "a tool"}`, report.baseline ? "" : h("p", { class: "dim" }, "No baseline: --baseline compares with an earlier run."));
    return [h("ol", { class: "past" }, rows), h("p", { class: "dim mono" }, report.fingerprint)];
  }
}
