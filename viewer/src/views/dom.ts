// Building elements. Text only ever becomes text nodes: nothing of a report is parsed as markup.

type Child = Node | string | null | undefined | false;
type Props = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>;

/** An element with attributes, `on...` listeners and children; `data` attributes are written out. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: readonly (Child | readonly Child[])[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child) element.append(child);
  return element;
}

const ICONS: Readonly<Record<string, readonly string[]>> = {
  logo: ["M1.75 6.25a1.5 1.5 0 0 1 1.5-1.5h6.5a1.5 1.5 0 0 1 1.5 1.5v6.5a1.5 1.5 0 0 1-1.5 1.5h-6.5a1.5 1.5 0 0 1-1.5-1.5z", "M5 2.75h7.25a1 1 0 0 1 1 1V11"],
  unfold: ["M5.5 4.5 8 2l2.5 2.5M5.5 11.5 8 14l2.5-2.5M3 8h10"],
  fold: ["M5.5 2.5 8 5l2.5-2.5M5.5 13.5 8 11l2.5 2.5M3 8h10"],
  swap: ["M2.5 5.5h10M10 3l2.5 2.5L10 8M13.5 10.5h-10M6 8l-2.5 2.5L6 13"],
  close: ["m4.5 4.5 7 7m0-7-7 7"],
  prev: ["m9.5 4-4 4 4 4"],
  next: ["m6.5 4 4 4-4 4"],
  find: ["M11 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0z", "m10 10 3.5 3.5"],
  panel: ["M3.5 3h9A1.5 1.5 0 0 1 14 4.5v7a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 11.5v-7A1.5 1.5 0 0 1 3.5 3z", "M10 3v10"],
  theme: ["M13.25 8a5.25 5.25 0 1 1-10.5 0 5.25 5.25 0 0 1 10.5 0z", "*M8 2.75a5.25 5.25 0 0 1 0 10.5z"],
  thread: ["M5 2.5v11M5 6.5c0 2.5 6 1 6 4v3"],
  taken: ["M4 3v5.5a1.5 1.5 0 0 0 1.5 1.5H12M9.5 7.5 12 10l-2.5 2.5"],
  skip: ["M2.5 11.5a5.2 5.2 0 0 1 10-1.8M13.2 5.6v4.3H8.9"],
  again: ["M5.5 3 3 5.5 5.5 8M3.2 5.5h6.3a3.25 3.25 0 0 1 0 6.5H6"],
  open: ["M13.25 8a5.25 5.25 0 1 1-10.5 0 5.25 5.25 0 0 1 10.5 0z"],
  started: ["M13.25 8a5.25 5.25 0 1 1-10.5 0 5.25 5.25 0 0 1 10.5 0z", "*M8 5a3 3 0 0 1 0 6z"],
  true: ["*M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z", "!m5.5 8.2 1.8 1.8 3.2-3.8"],
  false: ["*M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z", "!m6 6 4 4m0-4-4 4"],
  unsure: ["M13.25 8a5.25 5.25 0 1 1-10.5 0 5.25 5.25 0 0 1 10.5 0z", "M6.4 6.6c0-2 3.2-2 3.2 0 0 1.3-1.6 1.2-1.6 2.4M8 10.9v.3"],
  sev1: ["M4 13v-3", "~M8 13V7M12 13V4"],
  sev2: ["M4 13v-3M8 13V7", "~M12 13V4"],
  sev3: ["M4 13v-3M8 13V7M12 13V4"],
  loop: ["M12.5 6.5A5 5 0 0 0 3.3 7M3.5 9.5a5 5 0 0 0 9.2-.5M12.7 3v3.5H9.2M3.3 13V9.5h3.5"],
  up: ["m4 10 4-4 4 4"],
  down: ["m4 6 4 4 4-4"],
  to: ["M3 8h10M9.5 4.5 13 8l-3.5 3.5"],
  link: ["M6.5 9.5a2.5 2.5 0 0 0 3.6 0l2.2-2.2a2.5 2.5 0 0 0-3.6-3.6L7.9 4.5M9.5 6.5a2.5 2.5 0 0 0-3.6 0L3.700 8.7a2.5 2.5 0 0 0 3.6 3.6l.8-.8"],
  copy: ["M5.5 5.5h7v7h-7z", "M3.500 10.500v-7h7"],
  menu: ["M3.500 8h.01M8 8h.01M12.500 8h.01"],
  list: ["M6 4h7.500M6 8h7.500M6 12h7.500M2.700 4h.01M2.700 8h.01M2.700 12h.01"],
  stack: ["m8 2.500 6 3-6 3-6-3zM2 8.500l6 3 6-3M2 11l6 3 6-3"],
  check: ["m3.500 8.500 3 3 6-7"],
  edit: ["M10.5 3 13 5.5 6 12.500l-3.200.7.700-3.200z"],
  new: ["M8 3.500v9M3.500 8h9"],
  save: ["M8 2.5v7.5M5 7.5 8 10.5l3-3M3 13.5h10"],
  load: ["M8 10.5V3M5 5.5 8 2.5l3 3M3 13.5h10"],
};
const SVG = "http://www.w3.org/2000/svg";

/** A drawing by name. `*` fills a stroke-less shape, `!` draws in the surface's colour, `~` draws faintly. */
export function icon(name: string): SVGSVGElement {
  let drawing = drawn.get(name);
  if (!drawing) drawn.set(name, drawing = drawIcon(name));
  return drawing.cloneNode(true) as SVGSVGElement;
}
const drawn = new Map<string, SVGSVGElement>();

function drawIcon(name: string): SVGSVGElement {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 16 16");
  drawing.setAttribute("aria-hidden", "true");
  for (const spec of ICONS[name] ?? []) {
    const path = document.createElementNS(SVG, "path");
    const mode = /^[*!~]/.exec(spec)?.[0] ?? "";
    path.setAttribute("d", spec.slice(mode.length));
    if (mode) path.setAttribute("class", { "*": "filled", "!": "knocked", "~": "faint" }[mode] ?? "");
    drawing.append(path);
  }
  return drawing;
}

/** A path drawn small: one stair per call, one staircase per path. */
export function stairs(depths: readonly number[]): SVGSVGElement {
  const drawn = depths.slice(0, 4), width = Math.max(16 * drawn.length, 32);
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `0 0 ${width} 14`);
  drawing.setAttribute("width", String(width));
  drawing.setAttribute("height", "14");
  drawing.setAttribute("class", "stairs");
  drawing.setAttribute("aria-hidden", "true");
  drawn.forEach((depth, at) => {
    const steps = Math.min(Math.max(depth, 1), 8), dx = 12 / steps, dy = steps > 1 ? 11 / (steps - 1) : 0, from = steps > 1 ? 1.5 : 7;
    const points: string[] = [];
    for (let step = 0; step < steps; step++) {
      const x = 16 * at + 1 + step * dx, y = from + step * dy;
      points.push(`${x.toFixed(1)},${y.toFixed(1)}`, `${(x + dx).toFixed(1)},${y.toFixed(1)}`);
    }
    const line = document.createElementNS(SVG, "polyline");
    line.setAttribute("points", points.join(" "));
    drawing.append(line);
  });
  return drawing;
}

/** Words with code in backquotes. */
export function prose(text: string): Child[] {
  return text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));
}

/** A title whose quoted names look like code. */
export function titled(text: string): Child[] {
  return text.split(/(`[^`]+`|'[^']+'|‘[^’]+’)/).map(part => (/^[`'‘].+[`'’]$/.test(part) ? h("code", {}, part.slice(1, -1)) : part));
}
