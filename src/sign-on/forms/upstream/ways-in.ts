import type { SchoolId } from "../../../directory/index.ts";
import { allowsLocalPasswords, findWayInSettings, listWaysIn, type WayIn } from "../../../upstream/index.ts";
import type { PageContext } from "../../../platform/pages/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";

/** The logins that a school has elsewhere, at least one, and whether it uses passwords of this service besides. */
export type WaysOfSchool = {
  school: string;
  buttons: readonly Pick<WayIn, "connectionId" | "name">[];
  allowsPasswords: boolean;
};

/** Null for a school without a login of its own. */
export async function findWaysIn({ db, clock }: InteractionDeps, schoolId: SchoolId): Promise<WaysOfSchool | null> {
  const buttons = await listWaysIn(db, schoolId);
  const [first] = buttons;
  if (first === undefined) return null;
  const settings = await findWayInSettings(db, schoolId);
  return { school: first.schoolName, buttons, allowsPasswords: allowsLocalPasswords(settings, clock()) };
}

/**
 * Lets the buttons of a page leave it. Browsers apply form-action to every redirect after a form, and a login may
 * redirect to others of its own, so that only the schemes are known.
 */
export const withUpstreamTargets = (context: PageContext, ways: object | null, issuerUrl: string): PageContext =>
  ways === null
    ? context
    : { ...context, formTargets: [...(context.formTargets ?? []), "https:", new URL(issuerUrl).protocol] };
