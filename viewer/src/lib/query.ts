// Multi-query search: several terms at once, each told apart by its hue, plain words or /regular expressions/.

export interface Query {
  readonly term: string;
  readonly expression: RegExp;
  /** 1 to 6: colour and line style. */
  readonly hue: number;
}

export interface Match { readonly start: number; readonly end: number; readonly query: Query }

/** Longer lines are searched up to here, so that a minified file does not stall the page. */
const LONGEST = 20_000;
const MOST_PER_LINE = 200;

/** A term as an expression; undefined where it does not parse, or would match everywhere. */
export function parseTerm(term: string): RegExp | undefined {
  const pattern = /^\/(.+)\/(i?)$/s.exec(term);
  try {
    const expression = pattern
      ? new RegExp(pattern[1] ?? "", "g" + (pattern[2] ?? ""))
      : new RegExp(term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "g");
    return term.trim() === "" || expression.test("") ? undefined : expression;
  } catch {
    return undefined;
  }
}

/** `queries` with one more; the same list when it is there already, undefined when it does not parse. */
export function addQuery(queries: readonly Query[], term: string): readonly Query[] | undefined {
  term = term.trim();
  if (queries.some(query => query.term === term)) return queries;
  const expression = parseTerm(term);
  if (!expression) return undefined;
  const used = queries.map(query => query.hue);
  const hue = [1, 2, 3, 4, 5, 6].find(candidate => !used.includes(candidate)) ?? (queries.length % 6) + 1;
  return [...queries, { term, expression, hue }];
}

/** All matches in a text, in order of their start. */
export function matchesIn(text: string, queries: readonly Query[]): Match[] {
  const found: Match[] = [];
  const searched = text.length > LONGEST ? text.slice(0, LONGEST) : text;
  for (const query of queries) {
    query.expression.lastIndex = 0;
    let count = 0;
    for (const match of searched.matchAll(query.expression)) {
      if (match[0].length === 0) continue;
      found.push({ start: match.index, end: match.index + match[0].length, query });
      if (++count >= MOST_PER_LINE) break;
    }
  }
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}
