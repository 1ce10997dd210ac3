import { appNotFound, type ClientId } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import { findSignInFacts, releaseSignInLimitsIn } from "../sign-on/index.ts";
import type { AdminHandler } from "./handler.ts";
import { loginUnknown, readLogin, withPerson } from "./logins.ts";
import { reachesApp } from "./reached.ts";
import { explain } from "./sign-in-steps.ts";
import { getReachedPerson } from "./whose-person.ts";

export const explainSignIn: AdminHandler<"explainSignIn"> = async ({ db }, { path, query, reach, caller, origin }) => {
  const [personId, clientId] = [path.personId as PersonId, query.app as ClientId];
  const { homeSchoolId, isGuest } = await getReachedPerson(db, reach, personId);
  const facts = reachesApp(reach, clientId)
    ? await findSignInFacts(db.pool, { personId, clientId, now: origin.at })
    : null;
  if (facts === null) throw appNotFound();
  return { status: 200, body: explain({ facts, clientId, reach, roles: caller.roles, homeSchoolId, isGuest }) };
};

export const releaseSignInLimits: AdminHandler<"releaseSignInLimits"> = (deps, request) =>
  withPerson(deps, request, async (tx, personId) => {
    const { origin } = request;
    if ((await readLogin(tx, personId, origin.at)) === null) throw loginUnknown();
    await releaseSignInLimitsIn(tx, personId, origin);
    return { status: 204 };
  });
