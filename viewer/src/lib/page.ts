// The page's data, as `crates/reports/view/src/page.rs` writes it (`parallax-page/1`). Nothing here computes.

export interface Page {
  readonly format: "parallax-page/1";
  readonly name: string;
  /** What the project is known by. */
  readonly project: string;
  /** Seconds since 1970. */
  readonly made: number;
  readonly author: string;
  readonly files: readonly FileData[];
  readonly definitions: readonly Definition[];
  readonly reports: readonly Report[];
  readonly checklists: readonly Checklist[];
  readonly triage: Triage;
  readonly notes: readonly string[];
  readonly rules?: readonly Rule[];
  /** A link with `{file}` and `{line}` in it. */
  readonly editor?: string;
  /** What the reports were compared with. */
  readonly against?: string;
  readonly server?: { readonly token: string; readonly version?: number };
}

export interface Rule {
  readonly id: string;
  readonly name?: string;
  readonly summary?: string;
  readonly description?: string;
  /** Markdown. */
  readonly help?: string;
  readonly url?: string;
  readonly score?: string;
}

export interface Change { readonly file: string; readonly first: number; readonly old: readonly string[]; readonly new: readonly string[] }
export interface Fix { readonly description: string; readonly changes: readonly Change[] }
export type Baseline = "new" | "unchanged" | "updated" | "absent";

export interface FileData {
  readonly name: string;
  /** Of the whole file; `chunks` hold only what is shown. */
  readonly lines: number;
  readonly chunks: readonly Chunk[];
  /** First line, last line, then the lines to show with any line inside. */
  readonly blocks: readonly (readonly number[])[];
  readonly missing?: string;
  /** Where it lies on this machine, for an editor. */
  readonly path?: string;
}

export interface Chunk {
  readonly first: number;
  readonly lines: readonly string[];
  /** Per line: `k0,3 d8,8,12`, a class letter, start, length, and for `d` the definition. */
  readonly tokens: readonly string[];
}

export interface Definition {
  readonly name: string;
  readonly kind: string;
  readonly file: string;
  readonly chunk: Chunk;
  readonly more?: number;
}

export type Link = { readonly step: { readonly path: number; readonly step: number } } | { readonly related: number } | { readonly url: string };
export interface Segment { readonly text: string; readonly link?: Link }
export type Severity = 1 | 2 | 3;

export interface Report {
  readonly id: string;
  /** The key of its record. */
  readonly fingerprint: string;
  /** The keys of records that may be about it. */
  readonly perhaps?: readonly string[];
  readonly rule: string;
  readonly title: string;
  readonly text: readonly Segment[];
  readonly severity: Severity;
  readonly cwe?: readonly number[];
  readonly tool: string;
  readonly place: string;
  readonly paths: readonly Path[];
  readonly related: readonly { readonly place: string; readonly message: string; readonly definition?: number }[];
  readonly suppressed?: string;
  readonly checklist: number;
  /** Index into the rules. */
  readonly help?: number;
  /** Its paths are ones on which all is well. */
  readonly passed?: boolean;
  readonly baseline?: Baseline;
  readonly fixes?: readonly Fix[];
  readonly rank?: number;
  readonly occurrences?: number;
  readonly markdown?: string;
}

export interface Path {
  readonly label: string;
  readonly stack: boolean;
  /** Paths with the same number happen together. */
  readonly flow?: number;
  readonly thread?: string;
  readonly frames: readonly Frame[];
  readonly roots: readonly number[];
  readonly steps: readonly Step[];
}

export interface Frame {
  readonly fn: string;
  readonly file?: number;
  readonly lines?: readonly [number, number];
  readonly thread?: string;
  /** A step `s` as `s`, a frame `f` as `-1 - f`. */
  readonly items: readonly number[];
}

export type Role = "entry" | "call" | "return" | "branch" | "access" | "note";

export interface Step {
  /** Line. */
  readonly l?: number;
  /** File, where it is not the frame's. */
  readonly f?: number;
  /** First column and one past the last, from one. */
  readonly c?: readonly [number, number | null];
  readonly r: Role;
  readonly t?: boolean;
  readonly a?: "read" | "write" | "read-write";
  /** It goes wrong here. */
  readonly x?: boolean;
  readonly m?: string;
  readonly v?: readonly (readonly [string, string])[];
  readonly s?: readonly (readonly [string, string])[];
  /** Order over all paths. */
  readonly o?: number;
  /** When, as the tool writes it. */
  readonly w?: string;
  /** The line is merely passed. */
  readonly p?: boolean;
  /** The tool calls it essential. */
  readonly e?: boolean;
}

export interface Checklist {
  readonly name: string;
  readonly title: string;
  readonly presets: readonly string[];
  readonly verdicts: Readonly<Record<string, string>>;
  /** When a report of this kind is right, and when it is not. */
  readonly true_if?: string;
  readonly false_if?: string;
  readonly tabs: readonly TabTemplate[];
}

export interface TabTemplate {
  readonly for: "report" | "path" | "pair";
  readonly when?: "no-locks" | "no-common-lock";
  readonly title: string;
  readonly questions: readonly QuestionTemplate[];
  readonly explain?: string;
}

export interface QuestionTemplate {
  readonly id: string;
  readonly text: string;
  readonly options?: readonly (readonly [string, string])[];
  readonly if?: Readonly<Record<string, string>>;
  readonly group?: string;
}

export type Verdict = "true" | "false" | "unsure";

/** What is known of a report: of each question the answer that stands. */
export interface TriageRecord {
  readonly title: string;
  readonly answers: Readonly<Record<string, string>>;
  readonly explanations: Readonly<Record<string, string>>;
  readonly verdict: Verdict | null;
  readonly note: string;
  readonly author: string;
  readonly time: string;
  /** Every verdict, the oldest first. */
  readonly history?: readonly Judgement[];
  /** Questions to which several answers stand, none given in the knowledge of the others. */
  readonly conflicts?: readonly Conflict[];
  /** What was known when the record was looked at: the value of each question, and the answers that stood. */
  readonly base?: { readonly values: Readonly<Record<string, string>>; readonly heads: Readonly<Record<string, Readonly<Record<string, number>>>> };
}

export interface Conflict { readonly field: string; readonly answers: readonly Answer[] }

/** One answer to one question, as it is kept. */
export interface Answer {
  readonly id: string;
  readonly field: string;
  readonly value: string;
  readonly note?: string;
  readonly author: string;
  readonly time: string;
  readonly revision?: number;
  /** The answers that it replaces, as they were then. */
  readonly replaces?: Readonly<Record<string, number>>;
}

/** The answers on a report, as they are kept. */
export interface StoredRecord {
  /** The number of the report on the page that was made last. */
  readonly report: string;
  readonly title: string;
  readonly identity?: unknown;
  readonly seen?: number;
  /** Records of before that are about the same report. */
  readonly was?: readonly string[];
  readonly answers?: readonly Answer[];
}

/** A verdict as it was once given; none where it was taken back. */
export interface Judgement { readonly verdict: Verdict | null; readonly author: string; readonly time: string; readonly note: string }

export interface Triage {
  readonly format: "parallax-triage/2";
  readonly records: Readonly<Record<string, StoredRecord>>;
  /** Records that cannot be read, kept as they are. */
  readonly unreadable?: Readonly<Record<string, unknown>>;
}
