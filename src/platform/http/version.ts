import { sql, type Sql } from "../database/sql.ts";

/** The headers of a read that say how current it is. */
export const timeHeaders = ["Schultor-Visible-Change", "Schultor-Source-Read"] as const;

export const rfc3339 = (time: Sql): Sql => sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL of a text for `readVersion`. Either time may be null. */
export const versionText = (of: { version: Sql; changedAt: Sql; sourceReadAt: Sql }): Sql =>
  sql`concat(${of.version}, ' ', ${rfc3339(of.changedAt)}, ' ', ${rfc3339(of.sourceReadAt)})`;

/** Equal tags mean equal items. */
export type Version = { tag: string | null; headers: Record<string, string> };

export function readVersion(text: string | null): Version {
  const [tag = null, ...times] = text?.split(" ") ?? [];
  const headers: Record<string, string> = {};
  for (const [index, time] of times.entries()) if (time !== "") headers[timeHeaders[index]!] = time;
  return { tag, headers };
}
