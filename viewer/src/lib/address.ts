// What the address of the page names: the list, a report with a path and a step of it, or two paths compared.

export interface PathAddress { readonly report: string; /** From one. */ readonly path: number; readonly step?: number }
export type Address =
  | { readonly kind: "list" }
  | { readonly kind: "report"; readonly report: string; readonly path?: number; readonly step?: number }
  | { readonly kind: "compare"; readonly a: PathAddress; readonly b: PathAddress };

const number = (text: string | undefined): number | undefined => (text !== undefined && /^\d{1,7}$/.test(text) && Number(text) > 0 ? Number(text) : undefined);

function pathAddress(text: string | undefined): PathAddress | undefined {
  const [report = "", path, step] = (text ?? "").split("/"), on = number(step);
  return report ? { report, path: number(path) ?? 1, ...(on !== undefined && { step: on }) } : undefined;
}

/** A part of an address as it was before it was written as one; as it is, if it never was. */
export function decoded(word: string): string {
  try { return decodeURIComponent(word); } catch { return word; }
}

/** Reads the part after `#`, without options. */
export function parseAddress(word: string): Address | undefined {
  if (word === "list") return { kind: "list" };
  const [left, right] = word.split(":");
  if (right !== undefined) {
    const a = pathAddress(left), b = pathAddress(right);
    return a && b ? { kind: "compare", a, b } : undefined;
  }
  const [report = "", path, step] = word.split("/");
  if (!report) return undefined;
  const at = number(path), on = number(step);
  return { kind: "report", report, ...(at !== undefined && { path: at }), ...(on !== undefined && { step: on }) };
}

export function writeAddress(address: Address): string {
  switch (address.kind) {
    case "list": return "#list";
    case "report": return `#${[address.report, address.path, address.step].filter(part => part !== undefined).join("/")}`;
    case "compare": return `#${[address.a, address.b].map(({ report, path, step }) => [report, path, step].filter(part => part !== undefined).join("/")).join(":")}`;
  }
}

/** A place in an editor: `{file}` and `{line}` of the link filled in. Absolute names bring their own slash. */
export function editorLink(link: string, file: string, line: number): string {
  const name = file.split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":");
  return link.replaceAll("/{file}", name.startsWith("/") ? name : `/${name}`).replaceAll("{file}", name).replaceAll("{line}", String(line));
}
