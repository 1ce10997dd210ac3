import type { Group, Person, School } from "../directory/index.ts";
import type { App, GrantSettings, SignOnAudience } from "../access/index.ts";
import type { Result } from "./command.ts";
import { escapeUnprintable } from "../platform/unprintable.ts";
import { option } from "./option.ts";

/** Rows as columns that stand under each other. */
export function alignColumns(table: readonly (readonly string[])[]): string[] {
  // Here already, so that a column is as wide as what is printed.
  const rows = table.map((row) => row.map(escapeUnprintable));
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}

/** What every list takes. */
export const listOptions = {
  search: option.text("Only those whose name holds this text."),
  limit: option.count("How many at most; 100 if left out."),
  after: option.id("Go on behind the one with this id, the last one of the list before."),
};

export const defaultLimit = 100;

/** A list, and whether there is more of it. `items` were asked for with one more than `limit`. */
export function listResult<Item extends { id: string }>(
  name: string,
  items: readonly Item[],
  limit: number,
  columns: (item: Item) => string[],
): Result {
  const shown = items.slice(0, limit);
  const next = items.length > limit ? (shown.at(-1)?.id ?? null) : null;
  const more = next === null ? [] : [`There are more: --after ${next}`];
  const nothing = shown.length === 0 ? ["There are none."] : [];
  return { lines: [...alignColumns(shown.map(columns)), ...nothing, ...more], data: { [name]: shown, next } };
}

/** A record as lines of a name and its value. */
export const recordLines = (record: Record<string, string | null>): string[] =>
  alignColumns(Object.entries(record).map(([name, value]) => [name, value ?? "–"]));

export const schoolColumns = ({ id, officialId, name, address }: School): string[] => [
  id,
  officialId,
  name,
  address.city,
];
export const groupColumns = ({ id, status, type, name, members }: Group): string[] => [
  id,
  status,
  type,
  name,
  `${members} members`,
];
export const personColumns = ({ id, status, role, name, groups }: Person): string[] => [
  id,
  status,
  role,
  nameOf(name),
  groups.map((group) => group.name).join(", "),
];

export const nameOf = (name: Person["name"]): string =>
  name === null ? "(no name)" : `${name.last}, ${name.firstFull}`;

export const appColumns = ({ clientId, type, name }: App): string[] => [clientId, type, name];

export function grantLines({ clientId, schoolId, signOn, sync, syncedGroups }: GrantSettings): string[] {
  return recordLines({
    app: clientId,
    school: schoolId,
    "sign-on": audienceText(signOn),
    sync: sync ? "on" : "off",
    "synced groups": syncedGroups.join(", ") || "none",
  });
}

function audienceText(signOn: SignOnAudience): string {
  if (signOn.kind === "ROLES") return `roles ${signOn.roles.join(", ")}`;
  return signOn.kind === "GROUPS" ? `groups ${signOn.groups.join(", ") || "none"}` : signOn.kind.toLowerCase();
}
