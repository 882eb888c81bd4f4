// The search bar: a chip per term, a field for more.

import { plural } from "../lib/describe.ts";
import type { Query } from "../lib/query.ts";
import { h, icon } from "./dom.ts";

export interface QueryEvents {
  /** Adds a term; says whether it could be. */
  add(term: string): boolean;
  remove(term: string): void;
  removeLast(): void;
  jump(term: string): void;
  say(text: string): void;
}

export class QueryBar {
  readonly chips = h("div", { class: "chips", role: "list", "aria-label": "Search terms" });
  readonly input: HTMLInputElement;
  readonly form: HTMLElement;

  constructor(private readonly events: QueryEvents) {
    this.input = h("input", { id: "term", type: "text", spellcheck: "false", autocomplete: "off", placeholder: "Find a term or /regex/", "aria-label": "Add a search term",
      oninput: () => this.input.removeAttribute("aria-invalid"),
      onkeydown: (event: KeyboardEvent) => { if (event.key === "Backspace" && this.input.value === "") this.events.removeLast(); } });
    this.form = h("form", { class: "add", onsubmit: (event: Event) => this.submit(event) }, this.input, h("kbd", { "aria-hidden": "true" }, "/"));
  }

  private submit(event: Event): void {
    event.preventDefault();
    if (this.input.value.trim() === "") return;
    if (this.events.add(this.input.value)) { this.input.value = ""; return; }
    this.input.setAttribute("aria-invalid", "true");
    this.events.say("That expression does not parse, or matches everywhere");
  }

  draw(queries: readonly Query[], counts: ReadonlyMap<string, number>, quiet: ReadonlySet<string>): void {
    this.chips.replaceChildren(...queries.map(({ term, hue }) => {
      const count = counts.get(term) ?? 0, folded = quiet.has(term);
      return h("span", { class: `query-chip q${hue}`, "data-query": term, role: "listitem" },
        // The name begins with what is seen, so that it can be said to a computer that listens.
        h("button", { class: "go", title: folded ? "Show the lines of all matches" : "Next match", "aria-label": `${term} ${folded ? `${count} folded, show their lines` : `${plural(count, "match")}, go to next`}`, onclick: () => this.events.jump(term) },
          h("span", { class: "term" }, term), " ", h("span", { class: "cnt" }, folded ? `${count} folded` : String(count))),
        h("button", { class: "x", "aria-label": `Remove ${term}`, title: "Remove", onclick: () => { this.events.remove(term); this.input.focus(); } }, icon("close")));
    }));
  }
}
