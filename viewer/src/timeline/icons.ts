// The drawings of the timeline; those of the report page where it has one.

import { icon as common } from "../views/dom.ts";

const OWN: Readonly<Record<string, readonly string[]>> = {
  stepf: ["M3.5 8h8M8.5 5l3 3-3 3", "M14 4v8"],
  stepb: ["M12.5 8h-8M7.5 5l-3 3 3 3", "M2 4v8"],
  itemf: ["M3 8h5", "*M13.5 8a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0z"],
  itemb: ["M13 8H8", "*M7.500 8a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0z"],
  out: ["M3 13h5.500a2 2 0 0 0 2-2V3.500M7.500 6l3-3 3 3"],
  call: ["M13 13H7.500a2 2 0 0 1-2-2V3.500M8.500 6l-3-3-3 3"],
  write: ["M13 12.500H8.500A4.500 4.500 0 0 1 4 8V4M1.500 6.500 4 4l2.500 2.500"],
  plus: ["M8 3.500v9M3.500 8h9"],
  minus: ["M3.500 8h9"],
  fit: ["M2.500 4v8M13.500 4v8M5 8h6M6.500 6.300 5 8l1.500 1.700M9.500 6.300 11 8 9.500 9.700"],
  eye: ["M1.800 8S4 3.800 8 3.800 14.200 8 14.200 8 12 12.200 8 12.200 1.800 8 1.800 8z", "M9.800 8a1.800 1.800 0 1 1-3.600 0 1.800 1.800 0 0 1 3.600 0z"],
  script: ["m3 5 3 3-3 3M8 11.500h5"],
  flag: ["M4 14V2.800h7.500L10 5.700l1.500 2.900H4"],
  stack: ["m8 2.500 5.500 2.800L8 8 2.500 5.300zM2.500 8.200 8 11l5.500-2.800M2.500 11 8 13.700l5.500-2.700"],
};

/** A drawing by name; `*` fills a shape. */
export function icon(name: string): SVGSVGElement {
  const own = OWN[name];
  if (!own) return common(name);
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawing.setAttribute("viewBox", "0 0 16 16");
  drawing.setAttribute("aria-hidden", "true");
  for (const spec of own) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", spec.replace("*", ""));
    if (spec.startsWith("*")) path.setAttribute("class", "filled");
    drawing.append(path);
  }
  return drawing;
}
