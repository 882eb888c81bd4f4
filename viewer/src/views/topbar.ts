// The bar at the top: where one is, how much is judged, and the way to the other views.

import type { Page, Report } from "../lib/page.ts";
import { h, icon, titled } from "./dom.ts";
import { severityElement } from "./list.ts";

export interface TopBarEvents {
  list(): void;
  /** From two paths back to one. */
  path(): void;
  go(by: number): void;
  menu(): void;
  theme(): void;
  help(): void;
}

export class TopBar {
  readonly element: HTMLElement;
  private readonly title = h("h1", { id: "title" });
  private readonly meta = h("span", { id: "meta" });
  private readonly crumb = h("span", { id: "crumb" });
  private readonly progressText = h("span", { id: "progress" });
  private readonly progressBar = h("i");

  constructor(private readonly page: Page, events: TopBarEvents) {
    const button = (act: string, title: string, label: string, drawing: Node, run: () => void, kind = "icon") =>
      h("button", { class: kind, "data-act": act, title, "aria-label": label, onclick: run }, drawing);
    const toList = (event: Event) => { event.preventDefault(); events.list(); };
    const views = [["Reports", () => events.list()], ["Path", () => events.path()], ["Compare", () => undefined]] as const;
    this.element = h("header", { class: "topbar" },
      h("a", { class: "brand", href: "#list", "aria-label": "Parallax, all reports", onclick: toList }, icon("logo"), icon("prev"), h("span", {}, "Parallax")),
      h("nav", { class: "crumbs", "aria-label": "Breadcrumb" }, h("a", { href: "#list", onclick: toList }, page.name), h("span", { "aria-hidden": "true" }, "/"), this.crumb),
      this.title, this.meta, h("span", { class: "grow" }),
      h("span", { class: "progress", title: "Triaged reports" }, h("span", { class: "bar", "aria-hidden": "true" }, this.progressBar), this.progressText),
      h("span", { class: "pager", role: "group", "aria-label": "Reports" },
        button("prev", "Previous report ([)", "Previous report", icon("prev"), () => events.go(-1), ""), button("next", "Next report (])", "Next report", icon("next"), () => events.go(1), "")),
      h("span", { class: "seg views", role: "group", "aria-label": "View" }, views.map(([name, run]) => h("button", { "aria-pressed": String(name === "Compare"), onclick: run }, name))),
      h("span", { class: "dim run", title: page.against ?? "" }, runWords(page)),
      button("menu", "More", "More", icon("menu"), () => events.menu()),
      button("theme", "Light or dark", "Switch between light and dark", icon("theme"), () => events.theme()),
      button("help", "Keyboard (?)", "Keyboard help", h("kbd", {}, "?"), () => events.help()));
  }

  showList(): void {
    this.crumb.textContent = "Reports";
    document.title = `${this.page.name} - Parallax`;
  }

  showReport(report: Report): void {
    this.crumb.textContent = report.id;
    this.setTitle(report);
    this.meta.replaceChildren(severityElement(report.severity), h("span", { class: "small" }, report.id), h("span", { class: "small mono" }, report.place.split("/").pop() ?? ""), h("span", { class: "tool" }, report.tool));
    document.title = `${report.id} ${report.title.replaceAll("`", "")} - Parallax`;
  }

  /** Two paths, counted from zero. */
  showPair(a: { readonly report: Report; readonly path: number }, b: { readonly report: Report; readonly path: number }): void {
    this.crumb.textContent = a.report === b.report ? `${a.report.id}, paths ${a.path + 1} and ${b.path + 1}` : `${a.report.id} and ${b.report.id}`;
    this.setTitle(a.report);
  }

  private setTitle(report: Report): void {
    this.title.replaceChildren(...titled(report.title).filter(child => !!child) as (Node | string)[]);
    this.title.title = report.title;
  }

  showProgress(triaged: number, total: number): void {
    this.progressText.textContent = `${triaged} of ${total} triaged`;
    this.progressBar.style.width = `${total ? (100 * triaged) / total : 0}%`;
  }
}

/** When the reports were made, and what they are compared with. */
function runWords(page: Page): string {
  const day = new Date(page.made * 1000).toISOString().slice(0, 10);
  return page.against ? `Run of ${day} against ${page.against.split("/").pop() ?? ""}` : `Run of ${day}`;
}
