// Checklists of one report: tabs made from the templates, which questions apply, and whether all are answered.

import { excludes, locksOf } from "./describe.ts";
import type { Checklist, QuestionTemplate, Report, TabTemplate } from "./page.ts";

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly questions: readonly QuestionTemplate[];
  readonly explain: string | undefined;
}

export type Answers = Readonly<Record<string, string>>;

/** The tabs of a report: one per path, per pair of paths or per report, as the checklist says. */
export function tabsOf(checklist: Checklist, report: Report): Tab[] {
  const tabs: Tab[] = [];
  const paths = report.paths.length;
  const locks = report.paths.map(path => locksOf(path.steps.findLast(step => step.x)));
  // Where the tool says which paths end in an access, the others (where memory was freed, a lock made) are beside the question.
  const accesses = report.paths.map(path => path.steps.some(step => step.a !== undefined));
  const asked = (path: number) => accesses[path] || !accesses.includes(true);
  const make = (template: TabTemplate, id: string, i: number, j: number): Tab => {
    const fill = (text: string) => text.replaceAll("{i}", String(i)).replaceAll("{j}", String(j));
    return { id, title: fill(template.title), questions: template.questions.map(question => ({ ...question, text: fill(question.text) })), explain: template.explain };
  };
  checklist.tabs.forEach((template, at) => {
    const tag = checklist.tabs.filter(other => other.for === template.for).length > 1 ? `-${at + 1}` : "";
    if (template.for === "report") tabs.push(make(template, `report${tag}`, 1, 2));
    if (template.for === "path") {
      for (let i = 0; i < paths; i++) {
        if (!asked(i)) continue;
        if (template.when === "no-locks" && (locks[i]?.length ?? 0) > 0) continue;
        tabs.push(make(template, `path-${i + 1}${tag}`, i + 1, i + 2));
      }
    }
    if (template.for === "pair") {
      for (let i = 0; i < paths; i++) for (let j = i + 1; j < paths; j++) {
        if (!asked(i) || !asked(j)) continue;
        const common = excludes(locks[i] ?? [], locks[j] ?? []);
        if (template.when === "no-common-lock" && common) continue;
        tabs.push(make(template, `paths-${i + 1}-${j + 1}${tag}`, i + 1, j + 1));
      }
    }
  });
  return tabs.slice(0, MOST_TABS);
}
/** A report with dozens of paths has thousands of pairs; nobody answers more tabs than this. */
const MOST_TABS = 40;

/** Whether a question is to be answered, given the answers before it. */
export function applies(tab: Tab, question: QuestionTemplate, answers: Answers): boolean {
  return Object.entries(question.if ?? {}).every(([id, value]) => {
    const before = tab.questions.find(other => other.id === id);
    return !!before && applies(tab, before, answers) && answers[`${tab.id}.${id}`] === value;
  });
}

export const isDone = (tab: Tab, answers: Answers): boolean =>
  tab.questions.every(question => !applies(tab, question, answers) || !!answers[`${tab.id}.${question.id}`]);

export const optionsOf = (question: QuestionTemplate): readonly (readonly [string, string])[] => question.options ?? [["yes", "Yes"], ["no", "No"]];
