// Edits that tools propose: which of them are the same edit in other places, and what `patch` makes of them.

import type { Group, Member } from "./groups.ts";
import type { Change, Fix, Report } from "./page.ts";
import { shapeOf } from "./shapes.ts";

/** What an edit does, with everything that differs from place to place left out. */
const editOf = (fix: Fix): string => fix.changes.map(change => `${shapeOf(change.old.join("\n"))}\n=>\n${shapeOf(change.new.join("\n"))}`).join("\n\n");

const changes = (fix: Fix): boolean => fix.changes.some(({ old, new: now }) => old.length !== now.length || old.some((line, at) => line !== now[at]));

/** The first edit of a report that would change anything. */
export const fixOf = (report: Report): Fix | undefined => report.fixes?.find(changes);

export interface Fitting { readonly fits: readonly Member[]; /** Have an edit of another kind. */ readonly other: number; /** Have none. */ readonly without: number }

/** Which reports of a group come with the same edit as this one. */
export function fitting(report: Report, group: Group): Fitting {
  const own = fixOf(report), edit = own && editOf(own), fits: Member[] = [];
  let other = 0, without = 0;
  for (const member of group.members) {
    const fix = fixOf(member.row.report);
    if (!fix) without++; else if (editOf(fix) === edit) fits.push(member); else other++;
  }
  return { fits, other, without };
}

/** Whether a name may stand in a patch: of a file below the folder it is applied in, on one line. */
const isPatchable = (file: string): boolean => file !== "" && !/[\u0000-\u001f]/.test(file) && !/^(?:\/|[A-Za-z]:)/.test(file) && !file.split(/[\\/]/).includes("..");

/**
 * Edits as a unified diff without context, for `patch -p1`. Edits that overlap an earlier one, and those of files that lie
 * elsewhere, are left out and counted.
 */
export function patchOf(fixes: readonly Fix[]): { readonly text: string; readonly left: number } {
  const files = new Map<string, Change[]>();
  let left = 0;
  for (const change of fixes.flatMap(fix => fix.changes)) {
    if (!isPatchable(change.file)) { left++; continue; }
    const known = files.get(change.file) ?? [];
    const end = (one: Change) => one.first + Math.max(1, one.old.length) - 1;
    if (known.some(one => one.first <= end(change) && change.first <= end(one))) { left++; continue; }
    files.set(change.file, [...known, change]);
  }
  let text = "";
  for (const [file, edits] of files) {
    text += `--- a/${file}\n+++ b/${file}\n`;
    let shift = 0;
    for (const { first, old, new: now } of edits.sort((a, b) => a.first - b.first)) {
      // A side without lines is named by the line before it.
      const range = (start: number, count: number) => `${count === 0 ? start - 1 : start}${count === 1 ? "" : `,${count}`}`;
      text += `@@ -${range(first, old.length)} +${range(first + shift, now.length)} @@\n${old.map(line => `-${line}\n`).join("")}${now.map(line => `+${line}\n`).join("")}`;
      shift += now.length - old.length;
    }
  }
  return { text, left };
}
