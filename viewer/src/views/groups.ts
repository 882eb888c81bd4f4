// Reports by rule and likeness: open, select, judge many at once, undo.

import { plural } from "../lib/describe.ts";
import { agreement, filesOf, type Family, type Group, type Member } from "../lib/groups.ts";
import { accessRange, runsOf } from "../lib/runs.ts";
import { HOLE } from "../lib/shapes.ts";
import type { Verdict } from "../lib/page.ts";
import { isTriaged, STATE_NAMES, type State } from "../lib/triage.ts";
import { NARROW } from "./column.ts";
import { h, icon, titled } from "./dom.ts";
import type { Judging } from "./judging.ts";
import { gestures } from "./touch.ts";

/** Of a group, so many are drawn at first; a few more are drawn at once. */
const DRAWN = 8, SLACK = 4;

export interface GroupEvents {
  open(index: number): void;
  say(text: string): void;
  /** The row that is current now, for the pane beside. */
  current(member: Member | undefined, group: Group | undefined, family: Family | undefined): void;
  /** What a report may have been judged before. */
  perhaps(index: number): HTMLElement | false;
}

type Item = { readonly kind: "family"; readonly family: Family } | { readonly kind: "group"; readonly family: Family; readonly group: Group } | { readonly kind: "member"; readonly family: Family; readonly group: Group; readonly member: Member } | { readonly kind: "more"; readonly family: Family; readonly group: Group };

export class GroupedList {
  readonly element = h("div", { class: "groups", role: "tree", "aria-label": "Reports by rule and likeness", tabindex: -1 });
  private families: readonly Family[] = [];
  private readonly openKeys = new Set<string>();
  private readonly whole = new Set<string>();
  private items: Item[] = [];
  private at = 0;
  private begun = false;

  constructor(private readonly events: GroupEvents, private readonly judging: Judging) {}

  private get selected(): ReadonlySet<number> { return this.judging.selected; }

  draw(families: readonly Family[]): void {
    this.families = families;
    if (!this.begun && families[0]) {
      this.begun = true;
      this.openKeys.add(families[0].key);
      if (families[0].groups[0]) this.openKeys.add(families[0].groups[0].key);
      this.at = 2;
    }
    this.judging.show({
      rows: () => this.families.flatMap(family => family.rows), redraw: focus => this.redraw(focus), onward: () => this.onward(),
      left: selected => {
        const groups = this.families.flatMap(family => family.groups).filter(group => group.members.some(member => selected.has(member.row.index)));
        return { odd: groups.flatMap(group => group.members).filter(member => member.differs && !selected.has(member.row.index)).map(member => member.row.index), all: groups.reduce((sum, group) => sum + group.members.length, 0) };
      },
    });
    this.redraw();
  }

  private redraw(focus = false): void {
    this.items = [];
    const rows: HTMLElement[] = [];
    const push = (item: Item, element: HTMLElement) => {
      const at = this.items.length;
      this.items.push(item);
      element.dataset["at"] = String(at);
      element.setAttribute("role", "treeitem");
      element.setAttribute("aria-level", String(item.kind === "family" ? 1 : item.kind === "group" || (item.kind === "member" && item.group.members.length === 1) ? 2 : 3));
      element.tabIndex = -1;
      element.addEventListener("click", event => this.clicked(at, event));
      rows.push(element);
    };
    for (const family of this.families) {
      push({ kind: "family", family }, this.familyElement(family));
      if (!this.openKeys.has(family.key)) continue;
      for (const group of family.groups) {
        const alone = group.members.length === 1 && group.members[0];
        if (alone) { push({ kind: "member", family, group, member: alone }, this.memberElement(alone, true)); continue; }
        push({ kind: "group", family, group }, this.groupElement(group));
        if (!this.openKeys.has(group.key)) continue;
        const shown = this.whole.has(group.key) || group.members.length <= DRAWN + SLACK ? group.members : group.members.slice(0, DRAWN);
        for (const member of shown) push({ kind: "member", family, group, member }, this.memberElement(member, false));
        const more = group.members.length - shown.length;
        if (more > 0) push({ kind: "more", family, group }, moreElement(group.members.slice(shown.length)));
      }
    }
    const { scrollTop } = this.element;
    this.element.replaceChildren(...rows);
    this.element.scrollTop = scrollTop;
    this.judging.draw();
    this.element.classList.toggle("is-bulk", this.selected.size > 0);
    this.pick(this.at, focus);
  }

  private clicked(at: number, event: Event): void {
    const target = event.target instanceof Element ? event.target : undefined;
    this.pick(at, true);
    const item = this.items[at];
    if (!item) return;
    if (target?.closest(".cb")) { event.preventDefault(); this.toggle(); return; }
    if (item.kind === "member") { event.preventDefault(); if (target?.closest("a") || matchMedia(NARROW).matches) this.events.open(item.member.row.index); return; }
    this.fold(item);
  }

  private fold(item: Item): void {
    if (item.kind === "more") { this.whole.add(item.group.key); this.redraw(true); return; }
    const key = item.kind === "family" ? item.family.key : item.kind === "group" ? item.group.key : "";
    if (!this.openKeys.delete(key)) {
      this.openKeys.add(key);
      if (item.kind === "family" && item.family.groups.length === 1 && item.family.groups[0]) this.openKeys.add(item.family.groups[0].key);
    }
    this.redraw(true);
  }

  /* Moving --------------------------------------------------------------------- */

  pick(at: number, focus = true): void {
    this.at = Math.min(Math.max(at, 0), Math.max(0, this.items.length - 1));
    for (const old of this.element.querySelectorAll(".cur")) { old.classList.remove("cur"); old.setAttribute("tabindex", "-1"); }
    const element = this.element.querySelector<HTMLElement>(`[data-at="${this.at}"]`), item = this.items[this.at];
    if (!element || !item) { this.events.current(undefined, undefined, undefined); return; }
    element.classList.add("cur");
    element.tabIndex = 0;
    if (focus) { element.focus({ preventScroll: true }); element.scrollIntoView({ block: "nearest" }); }
    const group = item.kind === "family" ? item.family.groups[0] : item.group;
    this.events.current(item.kind === "member" ? item.member : group?.members[0], group, item.family);
    if (focus) this.events.say(described(item));
  }

  step(by: number): void { this.pick(this.at + by); }

  /** To the first row that is shown, or the last. */
  toEnd(last: boolean): void { this.pick(last ? this.items.length - 1 : 0); }

  /** Opens what is closed; from what is open, to the first row inside. */
  inward(): void {
    const item = this.items[this.at];
    if (!item || item.kind === "member") { this.events.say("Enter opens the report"); return; }
    if (item.kind === "more" || !this.openKeys.has(item.kind === "family" ? item.family.key : item.group.key)) this.fold(item);
    else this.pick(this.at + 1);
  }

  /** Closes what is open; from anything else, to the row around it. */
  outward(): void {
    const item = this.items[this.at];
    if (!item) return;
    const key = item.kind === "family" ? item.family.key : item.kind === "group" ? item.group.key : undefined;
    if (key !== undefined && this.openKeys.has(key)) { this.fold(item); return; }
    if (item.kind === "family") { this.events.say("This rule is closed"); return; }
    const around = (above: Item) => above.kind === "family" || (item.kind !== "group" && item.group.members.length > 1 && above.kind === "group");
    for (let at = this.at - 1; at >= 0; at--) if (around(this.items[at]!)) { this.pick(at); return; }
  }

  /** To the next group or rule. */
  stepGroup(by: number): void {
    for (let at = this.at + by; at >= 0 && at < this.items.length; at += by) if (this.items[at]?.kind !== "member" || this.items[at - 1]?.kind === "family") { this.pick(at); return; }
    this.events.say(by > 0 ? "That was the last group" : "That was the first group");
  }

  enter(): void {
    const item = this.items[this.at];
    if (item?.kind === "member") this.events.open(item.member.row.index);
    else if (item) this.fold(item);
  }

  /** Makes a report current; `reveal` opens the group it is in. */
  pickReport(index: number, reveal = false): void {
    const family = this.families.find(one => one.rows.some(row => row.index === index)), group = family?.groups.find(one => one.members.some(member => member.row.index === index));
    if (reveal && family && group && !this.items.some(item => item.kind === "member" && item.member.row.index === index)) {
      for (const key of [family.key, group.key]) this.openKeys.add(key);
      this.whole.add(group.key);
      this.redraw();
    }
    const at = this.items.findIndex(item => item.kind === "member" && item.member.row.index === index);
    this.pick(at >= 0 ? at : this.at);
  }

  /* Judging ---------------------------------------------------------------------- */

  private alike(item: Item): readonly Member[] {
    if (item.kind === "family") return item.family.groups.flatMap(group => group.members);
    return item.group.members;
  }

  /** Selects the current report, or all of the current group that do not differ. */
  toggle(): void {
    const item = this.items[this.at];
    if (item?.kind === "member") this.judging.toggle(item.member.row.index); else this.selectAlike();
  }

  selectAlike(): void {
    const item = this.items[this.at];
    if (item) this.judging.toggleAll(this.alike(item).filter(member => !member.differs).map(member => member.row.index));
  }

  /** Chooses a verdict: for what is selected, for the current report, or for all alike in the current group. */
  judge(verdict: Verdict): void {
    const item = this.items[this.at];
    if (!item) return;
    // What waits and is alike; when only those that differ still wait, asking again means them.
    const waiting = this.alike(item).filter(member => !isTriaged(member.row.state)), same = waiting.filter(member => !member.differs);
    const all = this.alike(item).filter(member => !member.differs);
    this.judging.judge(verdict, item.kind === "member" ? item.member.row.index : undefined, (same.length ? same : waiting.length ? waiting : all).map(member => member.row.index));
  }

  /** On to the next that waits. */
  private onward(): void {
    const next = this.at;
    const waits = (item: Item | undefined) => !!item && this.alike(item).some(member => !isTriaged(member.row.state)) && (item.kind !== "member" || !isTriaged(item.member.row.state)) && item.kind !== "family";
    const go = (from: number): boolean => { for (let at = from; at < this.items.length; at++) if (waits(this.items[at])) { this.pick(at); return true; } return false; };
    if (go(next)) return;
    // Nothing that is open waits any more: the next rule that does is opened.
    const here = this.families.findIndex(family => family === this.items[next]?.family);
    const closed = [...this.families.slice(here + 1), ...this.families.slice(0, here + 1)].find(family => family.severity > 0 && !this.openKeys.has(family.key) && family.rows.some(row => !isTriaged(row.state)));
    if (closed) { this.openKeys.add(closed.key); this.redraw(); }
    if (!closed || !go(this.items.findIndex(item => item.family === closed))) this.pick(next);
  }

  /** The reports that are selected, or the current one, or those of the current group. */
  chosen(): readonly number[] {
    const item = this.items[this.at];
    if (this.selected.size > 0) return [...this.selected];
    if (!item) return [];
    return item.kind === "member" ? [item.member.row.index] : this.alike(item).map(member => member.row.index);
  }

  /* Drawing ------------------------------------------------------------------------ */

  private chevron(key: string): SVGSVGElement {
    const drawing = icon(this.openKeys.has(key) ? "down" : "next");
    drawing.classList.add("chev");
    return drawing;
  }

  private familyElement(family: Family): HTMLElement {
    const states = family.rows.map(row => row.state), done = states.filter(isTriaged).length, fresh = family.rows.filter(row => row.report.baseline === "new").length;
    const bar = h("span", { class: "rbar", "aria-hidden": "true" });
    for (const state of ["true", "false", "unsure", "open"] as const) {
      const count = states.filter(one => one === state || (state === "open" && one === "started")).length;
      if (!count) continue;
      const part = h("i", { class: state });
      part.style.flex = String(count);
      bar.append(part);
    }
    const fixed = family.title === "Fixed since the baseline";
    return h("div", { class: `rr${this.openKeys.has(family.key) ? " open" : ""}`, "aria-expanded": String(this.openKeys.has(family.key)), "data-rule": family.detail },
      this.chevron(family.key), family.severity ? h("span", { class: `sev s${family.severity}` }, icon(`sev${family.severity}`)) : h("span", { class: "okc" }, icon("taken")),
      h("span", { class: "rt" }, titled(family.title)), h("code", {}, family.detail), h("span", { class: "tl-n" }, family.tool), h("span", { class: "grow" }),
      fresh > 0 && h("span", { class: "bdg new" }, `${fresh} new`), fixed && h("span", { class: "bdg fix" }, `${family.rows.length} fixed`),
      !fixed && h("span", { class: "done" }, `${done} of ${family.rows.length}`, aloud(" judged")), !fixed && bar, h("span", { class: "cnt", "aria-hidden": "true" }, String(family.rows.length)));
  }

  private groupElement(group: Group): HTMLElement {
    const fresh = group.members.filter(member => member.row.report.baseline === "new").length;
    const chosen = group.members.filter(member => this.selected.has(member.row.index)).length;
    const agreed = agreement(group.members.map(member => member.row.state));
    const dots = h("span", { class: "rp", "aria-hidden": "true" }, group.members.slice(0, 24).map(member => h("i", { class: dot(member.row.state, member.row.report.baseline === "new") })));
    const waiting = group.members.filter(member => !isTriaged(member.row.state)).length;
    return h("div", { class: "cl", "data-waiting": waiting, "aria-expanded": String(this.openKeys.has(group.key)) },
      check(chosen === 0 ? "" : chosen === group.members.length ? "on" : "part", `Select ${plural(group.members.length, "like report")}`), this.chevron(group.key),
      aloud(`${plural(group.members.length, "like report")}${chosen > 0 ? `, ${chosen} selected` : ""}: `),
      h("code", { class: "shape", title: group.shapes.join(" to ") }, ...group.shapes.flatMap((shape, at) => [at > 0 ? icon("to") : "", ...shapeNodes(shape)])),
      h("span", { class: "why" }, group.why), h("span", { class: "grow" }), fresh > 0 && h("span", { class: "bdg new" }, `${fresh} new`),
      h("span", { class: agreed.includes(",") ? "done odd" : "done" }, agreed), dots, h("span", { class: "cnt", "aria-hidden": "true" }, String(group.members.length)));
  }

  private memberElement(member: Member, alone: boolean): HTMLElement {
    const { report, state } = member.row, on = this.selected.has(member.row.index);
    const place = middle(report.place.split("/").pop() ?? "", 15);
    const element = h("div", { class: `rep${on ? " on" : ""}${alone ? " alone" : ""}`, "data-report": report.id, "data-state": state, "aria-selected": String(on) },
      check(on ? "on" : "", `Select ${report.id}`), h("span", { class: `state ${state}`, title: state }, icon(state), aloud(`${report.id}, ${STATE_NAMES[state].toLowerCase()}: `)),
      h("a", { class: "loc mono", href: `#${report.id}`, title: report.place, tabindex: -1 }, place), h("code", { title: report.title }, member.place ? codeNodes(member.place) : report.title), h("span", { class: "grow" }),
      this.events.perhaps(member.row.index), member.differs && h("span", { class: "bdg odd" }, `differs: ${member.differs}`), report.baseline === "new" && h("span", { class: "bdg new" }, "new"), report.baseline === "absent" && h("span", { class: "bdg fix" }, "fixed"));
    const choose = () => { this.pick(Number(element.dataset["at"]), false); };
    gestures(element, { hold: () => { choose(); this.toggle(); }, swipe: verdict => { choose(); this.judging.judgeOne(member.row.index, verdict); } });
    return element;
  }
}

/** What the row is about, for the status line. */
function described(item: Item): string {
  if (item.kind === "family") return `${item.family.title}, ${plural(item.family.rows.length, "report")}`;
  const shape = item.group.shapes.join(" to "), all = item.group.members.length;
  if (item.kind !== "member") return `${item.family.detail ? `${item.family.detail}, ` : ""}${shape}, ${plural(all, "report")}`;
  const { report } = item.member.row;
  return [report.id, report.rule, report.place, all > 1 && `${item.group.members.indexOf(item.member) + 1} of ${all} alike`].filter(Boolean).join(", ");
}

/** The rest of a group: how many, and where. */
function moreElement(rest: readonly Member[]): HTMLElement {
  return h("div", { class: "more", "aria-expanded": "false" }, h("span", { class: "link" }, `${rest.length} more like these`), h("span", { class: "dim" }, filesOf(rest).slice(0, 6).map(([file, count]) => `${middle(file, 24)} ${count}`).join(", ")));
}

/** A line of code in the colours of the path, what the report is about standing out. */
function codeNodes({ source, line, columns }: NonNullable<Member["place"]>): Node[] {
  const text = source.line(line), from = text.text.length - text.text.trimStart().length;
  const range = columns && accessRange(text.text, columns), word = range && /^[\w$]+(?=\s*\()/.exec(text.text.slice(range[0]))?.[0];
  // Of a call its name is enough.
  const access = range && word ? [range[0], range[0] + word.length] as const : range && range[1] - range[0] < 32 ? range : undefined;
  const { runs } = runsOf(text, [], access ? { access } : {});
  let at = 0;
  return runs.flatMap(run => {
    const shown = run.text.slice(Math.max(0, from - at));
    at += run.text.length;
    return shown === "" ? [] : [run.access ? h("b", {}, shown) : run.kind && run.kind !== "d" ? h("i", { class: run.kind }, shown) : document.createTextNode(shown)];
  });
}

/** A place that is too long loses its middle, never its line number. */
const middle = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const end = Math.max(/:\d+$/.exec(text)?.[0].length ?? 0, Math.floor(most / 2));
  return `${text.slice(0, Math.max(1, most - 1 - end))}\u2026${text.slice(-end)}`;
};

const dot = (state: State, fresh: boolean): string => (isTriaged(state) ? state : fresh ? "new" : "");
/** For the eye and the pointer: the row itself says whether it is selected, and Space selects it. */
const check = (kind: string, title: string): HTMLElement => h("span", { class: `cb ${kind}`, title, "aria-hidden": "true" });
/** Words that are spoken and not shown. */
const aloud = (words: string): HTMLElement => h("span", { class: "vh" }, words);
const shapeNodes = (shape: string): (Node | string)[] => (shape || "no code told").split(HOLE).flatMap((part, at) => [...(at > 0 ? [h("span", { class: "slot" }, aloud("\u2026"))] : []), part]);
