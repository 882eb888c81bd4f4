// The keyboard, as data: the help lists it, and a test checks that every key listed does something.

import { h, icon } from "./dom.ts";

export const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ["Follow the path", [["j k", "Next, previous step"], ["h l", "Path to the left, right"], ["g a", "First step, where it goes wrong"], ["H L", "Move the column left, right"], ["v", "Compare with another path"], ["w", "Where the value was set"], ["y", "Copy the link to this step"]]],
  ["See more code", [["e E", "Unfold function, path"], ["o", "Open or close the loop"], ["C", "Close calls only passed on"], ["V", "All values, or changed ones"], ["d", "Definition on this line, next one"], ["i", "Open in the editor"], ["/", "Find a term, or /regex/"], ["n N", "Next, previous match"], ["Esc", "Close, leave the field"]]],
  ["Triage", [["c", "Go to the checklist"], ["T F U", "True, false, unsure"], ["Ctrl Enter", "Submit and next"], ["[ ]", "Previous, next report"], ["b", "Back to all reports"], ["p", "Show or hide the panel"], ["r", "About the rule"], ["=", "It is the report of before"]]],
  ["Many reports", [["J K", "Next, previous group"], ["← →", "Close, open a row"], ["x X", "Select one, all alike"], ["T F U", "Verdict for the selected"], ["Ctrl Enter", "Set it"], ["z", "Take it back"], ["a A", "Copy, preview the fix"]]],
  ["Two paths", [["n N", "Next, previous difference"], ["D", "First divergence"], ["s", "Swap the sides"], ["Esc", "Back to the report"]]],
];

export function helpDialog(): HTMLDialogElement {
  const keys = (text: string) => text.split(" ").flatMap(key => [h("kbd", {}, key), " "]);
  const dialog = h("dialog", { id: "help", "aria-labelledby": "help-heading" },
    h("header", {}, h("h2", { id: "help-heading" }, "Keyboard"), h("button", { class: "icon", "data-act": "close-help", "aria-label": "Close", onclick: () => dialog.close() }, icon("close"))),
    h("div", { class: "help-grid" },
      ...KEYS.map(([title, rows]) => h("section", {}, h("h3", {}, title), h("dl", {}, rows.map(([key, what]) => h("div", {}, h("dt", {}, keys(key)), h("dd", {}, what)))))),
      h("section", { class: "legend" }, h("h3", {}, "Signs"), h("dl", {},
        h("div", {}, h("dt", {}, h("b", { class: "badge call" }, "2")), h("dd", {}, "Call: square")),
        h("div", {}, h("dt", {}, h("b", { class: "badge branch" }, "3")), h("dd", {}, "Condition: hexagon")),
        h("div", {}, h("dt", {}, h("b", { class: "badge plain" }, "4")), h("dd", {}, "Anything else: outlined")),
        h("div", {}, h("dt", {}, h("b", { class: "badge access" }, "9")), h("dd", {}, "Failure: solid, underlined")),
        h("div", {}, h("dt", {}, h("span", { class: "rail-sample" })), h("dd", {}, "Double edge: new thread"))))));
  return dialog;
}
