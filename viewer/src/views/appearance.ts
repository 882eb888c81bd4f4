// How all views look: light or dark, all values or those that change.

export function setTheme(theme: string): void { document.documentElement.dataset["theme"] = theme; }

export function toggleTheme(): void {
  const { theme } = document.documentElement.dataset;
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(dark ? "light" : "dark");
}

export const allValues = (): boolean => document.body.dataset["values"] === "all";

/** Shows all values, or those that change; says which. */
export function toggleValues(): string {
  if (allValues()) delete document.body.dataset["values"]; else document.body.dataset["values"] = "all";
  return allValues() ? "All values are shown" : "Values are shown where they change";
}
