// What the address of the page names: the list, a report with a path and a step of it, or two paths compared.

/** A report by its name, `R-04`, and by what it is known by: names are given anew where nothing remembers them. */
export interface ReportName { readonly report: string; readonly key?: string }
export interface PathAddress extends ReportName { /** From one. */ readonly path: number; readonly step?: number }
export type Address =
  | { readonly kind: "list" }
  | { readonly kind: "report"; readonly path?: number; readonly step?: number } & ReportName
  | { readonly kind: "compare"; readonly a: PathAddress; readonly b: PathAddress };

/** So much of a report's key stands in an address. */
const KEY = 6;
export const nameOf = ({ id, fingerprint }: { readonly id: string; readonly fingerprint: string }): ReportName => ({ report: id, key: fingerprint.slice(0, KEY) });

/** Where the report of an address stands among all, and whether under its own name; -1 if it is not there. */
export function reportAt(reports: readonly { readonly id: string; readonly fingerprint: string }[], { report, key }: ReportName): number {
  const named = reports.findIndex(one => one.id === report);
  if (key === undefined || (named >= 0 && reports[named]!.fingerprint.startsWith(key))) return named;
  return reports.findIndex(one => one.fingerprint.startsWith(key));
}

const number = (text: string | undefined): number | undefined => (text !== undefined && /^\d{1,7}$/.test(text) && Number(text) > 0 ? Number(text) : undefined);

function reportName(text: string): ReportName {
  const [, report = text, key] = /^(.*)~([0-9a-f]+)$/.exec(text) ?? [];
  return { report, ...(key !== undefined && { key }) };
}
const written = ({ report, key }: ReportName): string => (key === undefined ? report : `${report}~${key}`);

function pathAddress(text: string | undefined): PathAddress | undefined {
  const [report = "", path, step] = (text ?? "").split("/"), on = number(step);
  return report ? { ...reportName(report), path: number(path) ?? 1, ...(on !== undefined && { step: on }) } : undefined;
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
  return { kind: "report", ...reportName(report), ...(at !== undefined && { path: at }), ...(on !== undefined && { step: on }) };
}

export function writeAddress(address: Address): string {
  switch (address.kind) {
    case "list": return "#list";
    case "report": return `#${[written(address), address.path, address.step].filter(part => part !== undefined).join("/")}`;
    case "compare": return `#${[address.a, address.b].map(({ path, step, ...name }) => [written(name), path, step].filter(part => part !== undefined).join("/")).join(":")}`;
  }
}

/** A place in an editor: `{file}` and `{line}` of the link filled in. Absolute names bring their own slash. */
export function editorLink(link: string, file: string, line: number): string {
  const name = file.split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":");
  return link.replaceAll("/{file}", name.startsWith("/") ? name : `/${name}`).replaceAll("{file}", name).replaceAll("{line}", String(line));
}
