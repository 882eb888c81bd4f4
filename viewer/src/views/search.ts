// Searching in the columns: the terms, what they match, and going from match to match.

import { plural } from "../lib/describe.ts";
import { Finder, type Place } from "../lib/layout.ts";
import { addQuery, type Query } from "../lib/query.ts";
import type { Source } from "../lib/source.ts";
import type { Column } from "./column.ts";
import type { Columns } from "./columns.ts";
import { QueryBar } from "./queries.ts";

/** A term that a checklist brings along opens at most so many places; beyond that it would bury the path. */
const MOST_OPENED = 24;

export class Search {
  readonly bar: QueryBar;
  private queries: readonly Query[] = [];
  /** The match that was last gone to. */
  private match = -1;
  /** Terms the user added; they stay when the report changes. */
  added: string[] = [];
  /** Terms whose matches were asked for, and those that have too many to open them unasked. */
  private loud: readonly string[] = [];
  private quiet: ReadonlySet<string> = new Set();

  constructor(private readonly columns: Columns, private readonly sources: readonly Source[], private readonly say: (text: string) => void) {
    this.bar = new QueryBar({
      add: term => this.add(term), remove: term => this.set(this.queries.filter(query => query.term !== term)),
      removeLast: () => this.set(this.queries.slice(0, -1)), jump: term => { if (this.quiet.has(term)) this.set(this.queries, [...this.loud, term]); else this.jump(1, term); }, say,
    });
  }

  /** Searches the columns for the terms of a checklist, and for those that the user added. */
  begin(presets: readonly string[]): void {
    let queries: readonly Query[] = [];
    for (const term of [...presets, ...this.added]) queries = addQuery(queries, term) ?? queries;
    this.set(queries, []);
  }

  private add(term: string): boolean {
    const queries = addQuery(this.queries, term);
    if (!queries) return false;
    this.added.push(term.trim());
    this.set(queries);
    return true;
  }

  private set(queries: readonly Query[], loud = this.loud): void {
    this.added = this.added.filter(term => queries.some(query => query.term === term));
    this.queries = queries;
    this.loud = loud;
    this.match = -1;
    const counts = this.counts(new Finder(queries)), asked = new Set([...this.added, ...loud]);
    this.quiet = new Set(queries.map(query => query.term).filter(term => (counts.get(term) ?? 0) > MOST_OPENED && !asked.has(term)));
    this.columns.relayout(new Finder(queries, this.quiet));
    this.bar.draw(queries, counts, this.quiet);
  }

  /** Matches on lines of the shown functions, each function counted once per path. */
  private counts(finder: Finder): Map<string, number> {
    const counts = new Map(this.queries.map(query => [query.term, 0]));
    if (this.queries.length === 0) return counts;
    for (const { path } of this.columns.all) {
      const seen = new Set<string>();
      for (const frame of path.frames) {
        const source = frame.file === undefined ? undefined : this.sources[frame.file];
        if (!source || !frame.lines) continue;
        for (let line = frame.lines[0]; line <= frame.lines[1]; line++) {
          const key = `${frame.file}:${line}`;
          if (seen.has(key)) continue;
          seen.add(key);
          for (const match of finder.in(source, line)) counts.set(match.query.term, (counts.get(match.query.term) ?? 0) + 1);
        }
      }
    }
    return counts;
  }

  jump(by: number, term?: string): void {
    const all: { column: Column; place: Place }[] = this.columns.visible().flatMap(number => this.columns.all[number]!.matches(term).map(place => ({ column: this.columns.all[number]!, place })));
    for (const old of document.querySelectorAll("mark.now")) old.classList.remove("now");
    if (all.length === 0) { this.say("No match on these paths"); return; }
    // Backwards from nowhere is the last.
    this.match = this.match < 0 && by < 0 ? all.length - 1 : (((this.match + by) % all.length) + all.length) % all.length;
    const { column, place } = all[this.match]!;
    this.say(`${column.markNow(place, term)}, ${this.match + 1} of ${plural(all.length, "match")}`);
  }
}
