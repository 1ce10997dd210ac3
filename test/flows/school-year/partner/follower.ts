import type { components } from "../../../../generated/openapi/idm.ts";
import { IdmError, type Idm } from "./idm.ts";
import type { Records } from "./records.ts";

type ChangeList = components["schemas"]["ChangeList"];

export type Follower = { begin(): Promise<void>; follow(): Promise<void> };

/** Follows the change feed. Shape: `place` is kept in the database of a real app, beside its records. */
export function makeFollower({ idm, records }: { idm: Idm; records: Pick<Records, "readAll" | "take"> }): Follower {
  let place: string;

  /** The place comes first: what changes during the reading is behind it. */
  async function begin(): Promise<void> {
    ({ next: place } = (await idm.read<ChangeList>("changes"))!);
    await records.readAll();
  }

  async function follow(): Promise<void> {
    for (let isMore = true; isMore;) {
      const { changes, next, more } = (await idm.read<ChangeList>(`changes?after=${encodeURIComponent(place)}`))!;
      for (const { type, action, updatedProperties, personId, groupId, schoolId } of changes) {
        await records.take({ type, id: (personId ?? groupId ?? schoolId)!, action, updatedProperties });
      }
      [place, isMore] = [next, more];
    }
  }

  const beginAgain = (error: unknown) => {
    if (error instanceof IdmError && error.status === 410) return begin();
    throw error;
  };
  return { begin, follow: () => follow().catch(beginAgain) };
}
