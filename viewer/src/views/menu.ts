// On a phone, what has no room in the bar.

import { h, icon } from "./dom.ts";

/** An icon, words, and what it does. */
export type MenuItem = readonly [string, string, () => void];

export function showMenu(items: readonly MenuItem[]): void {
  const dialog = h("dialog", { id: "menu", "aria-label": "More", onclose: () => dialog.remove(), onclick: (event: Event) => { if (event.target === dialog) dialog.close(); } },
    items.map(([name, text, run]) => h("button", { onclick: () => { dialog.close(); run(); } }, icon(name), text)));
  document.body.append(dialog);
  dialog.showModal();
}
