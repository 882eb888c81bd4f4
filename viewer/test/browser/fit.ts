// What does not fit: measured on the page as it stands, so that a look once is not what holds it.

import type { Page } from "playwright-core";

/** Code, what several steps of a line say, and the strips of buttons of a phone scroll sideways; no other panel does. */
const SIDEWAYS = ".scroller, .notes:has(> .note ~ .note), .columns, .chips, .querybar, .filters, .stackbar";

/** Text that is cut without a sign of it, panels wider than they show, and text that lies on other text. */
export async function misfits(page: Page): Promise<string[]> {
  return page.evaluate(strips => {
    const SLACK = 1.5;
    const found = new Set<string>();
    // What lies behind a dialog is not looked at.
    const shown = document.querySelector("dialog[open]") ?? document.body;
    const name = (one: Element): string => `${one.tagName.toLowerCase()}${[...one.classList].map(own => `.${own}`).join("")}`;
    const style = new Map<Element, CSSStyleDeclaration>();
    const styleOf = (one: Element): CSSStyleDeclaration => { let own = style.get(one); if (!own) style.set(one, own = getComputedStyle(one)); return own; };
    const scrolls = (way: string): boolean => way === "auto" || way === "scroll";
    const clips = (way: string): boolean => way === "hidden" || way === "clip";
    const words = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
    const texts: { rect: DOMRect; text: string; element: Element }[] = [];
    for (let node = words.nextNode(); node; node = words.nextNode()) {
      const element = node.parentElement!, text = node.textContent!.trim();
      if (!text || element.closest("script, style, noscript, option, [aria-hidden=true], .sr, .visually-hidden") || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        if (rect.width < 2 || rect.height < 2) continue;
        let { left, right, top, bottom } = rect, seen = true;
        // Up to the first panel that can be scrolled sideways: what lies beyond can be brought into sight there.
        for (let around: Element | null = element; around; around = around.parentElement) {
          const own = styleOf(around), box = around.getBoundingClientRect();
          if (own.clipPath !== "none" || (own.position === "absolute" && box.width <= 1)) { seen = false; break; }
          if (own.display === "inline") continue;
          if (clips(own.overflowX)) {
            const marked = own.textOverflow === "ellipsis" || own.maskImage !== "none" || own.webkitLineClamp !== "none";
            if (!marked && (right > box.right + SLACK || left < box.left - SLACK)) { if (left < box.right - SLACK && right > box.left + SLACK) found.add(`cut: "${text.slice(0, 40)}" of ${name(element)} in ${name(around)} by ${Math.round(Math.max(right - box.right, box.left - left))}`); seen = seen && left < box.right && right > box.left; }
            // An ellipsis says that there is more, not that there is something.
            if (marked && box.width < 16 && rect.width > 24) found.add(`squeezed to nothing: "${text.slice(0, 40)}" of ${name(element)} in ${name(around)}`);
            right = Math.min(right, box.right); left = Math.max(left, box.left);
          } else if (scrolls(own.overflowX)) { right = Math.min(right, box.right); left = Math.max(left, box.left); }
          if (own.overflowY !== "visible") { top = Math.max(top, box.top); bottom = Math.min(bottom, box.bottom); }
          if (own.position === "fixed") break;
        }
        if (!seen || right - left < 3 || bottom - top < 3) continue;
        if (right > innerWidth + SLACK || left < -SLACK) found.add(`beyond the window: "${text.slice(0, 40)}" of ${name(element)}`);
        texts.push({ rect: new DOMRect(left, top, right - left, bottom - top), text, element });
      }
    }
    if (texts.length < 10) found.add("there is nothing on the page to measure");
    for (const panel of shown.querySelectorAll<HTMLElement>("*")) {
      if (!scrolls(styleOf(panel).overflowX) || panel.matches(strips) || !panel.checkVisibility()) continue;
      if (panel.scrollWidth > panel.clientWidth + SLACK) found.add(`scrolls sideways: ${name(panel)} by ${panel.scrollWidth - panel.clientWidth}`);
    }
    // A field's hint is text too, but has no box of its own.
    const pen = document.createElement("canvas").getContext("2d")!;
    for (const field of shown.querySelectorAll<HTMLInputElement>("input[placeholder]")) {
      const own = styleOf(field);
      if (field.value || !field.checkVisibility() || own.textOverflow === "ellipsis") continue;
      pen.font = own.font;
      const room = field.clientWidth - parseFloat(own.paddingLeft) - parseFloat(own.paddingRight);
      if (pen.measureText(field.placeholder).width > room + SLACK) found.add(`cut: the hint "${field.placeholder}"`);
    }
    // Text on text; what stays in sight while the rest scrolls, the notes of a line that is too long and the length of a timeline's window lie above on purpose.
    const above = (one: Element): Element | undefined => {
      for (let around: Element | null = one; around; around = around.parentElement) if (around.matches(".line .notes, .brl") || ["sticky", "fixed"].includes(styleOf(around).position)) return around;
      return undefined;
    };
    // What stays in sight at the end of a line covers the code below it and does not let it shine through.
    for (const notes of shown.querySelectorAll<HTMLElement>(".line .notes")) {
      if (!notes.checkVisibility() || styleOf(notes).position !== "sticky") continue;
      const code = notes.closest(".line")?.querySelector(":scope > code"), own = styleOf(notes).backgroundColor;
      if (!code) continue;
      const panel = notes.closest(".scroller")!.getBoundingClientRect(), left = notes.getBoundingClientRect().left;
      const below = notes.getBoundingClientRect().top >= code.getBoundingClientRect().bottom - SLACK;
      const covered = below ? 0 : Math.min(code.getBoundingClientRect().right, panel.right) - left - 14;
      if (covered > SLACK) found.add(`covers: "${code.textContent?.trim().slice(0, 30)}" below "${notes.innerText.slice(0, 30)}" by ${Math.round(covered)}`);
      const range = document.createRange();
      range.selectNodeContents(code);
      const alpha = /^rgba\(.*,\s*([\d.]+)\)$|\/\s*([\d.]+%?)\s*\)$/.exec(own), clear = own === "transparent" || (alpha && parseFloat(alpha[1] ?? alpha[2] ?? "1") < 0.99);
      if (!below && clear && [...range.getClientRects()].some(rect => rect.right > notes.getBoundingClientRect().left + 14)) found.add(`shines through: "${code.textContent?.trim().slice(0, 30)}" below "${notes.innerText.slice(0, 30)}"`);
    }
    texts.sort((a, b) => a.rect.top - b.rect.top);
    for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length && texts[j]!.rect.top < texts[i]!.rect.bottom - 4; j++) {
      const [one, other] = [texts[i]!, texts[j]!];
      const wide = Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left), high = Math.min(one.rect.bottom, other.rect.bottom) - Math.max(one.rect.top, other.rect.top);
      if (wide > 3 && high > 4 && one.element !== other.element && above(one.element) === above(other.element)) found.add(`overlap: "${one.text.slice(0, 30)}" of ${name(one.element)} and "${other.text.slice(0, 30)}" of ${name(other.element)}`);
    }
    return [...found].sort();
  }, SIDEWAYS);
}
