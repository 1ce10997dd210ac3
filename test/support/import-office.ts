import type { AdminClient } from "./admin.ts";

/** A plain roster. */
export const rosterOf = (...rows: string[]): Buffer =>
  Buffer.from(["id;role;first_name;last_name;classes", ...rows, ""].join("\n"));

export const rosterType = { "content-type": "application/octet-stream" };

/** The import once it is neither read nor applied. The service tells nobody when that is, so it is asked until then. */
export async function untilDone<Shown>(call: AdminClient, id: string): Promise<Shown> {
  for (;;) {
    const { body } = await call("GET", `/imports/${id}`);
    if ((body as { progress: unknown }).progress === null) return body as Shown;
  }
}
