import { appNotFound } from "../../access/index.ts";
import { findSignInFacts, releaseSignInLimitsIn } from "../../sign-on/index.ts";
import type { AdminHandler } from "../handler.ts";
import { changeWithPerson, loginUnknown, readLogin } from "./logins.ts";
import { reachesApp } from "../reached.ts";
import { explain } from "./sign-in-steps.ts";
import { getReachedPerson } from "../whose-person.ts";

export const explainSignIn: AdminHandler<"explainSignIn"> = async (
  { db, needsSecondFactor },
  { personId, query, reach, caller, origin },
) => {
  const clientId = query.app ?? null;
  const { homeSchoolId, isGuest } = await getReachedPerson(db, reach, personId);
  const facts =
    clientId === null || reachesApp(reach, clientId)
      ? await findSignInFacts(db.pool, { personId, clientId, now: origin.at })
      : null;
  if (facts === null) throw appNotFound();
  const needs = facts.hasSecondFactor || (facts.isStaff && (await needsSecondFactor(personId)));
  const { roles } = caller;
  const asked = { facts, clientId, reach, roles, homeSchoolId, isGuest, needsSecondFactor: needs };
  return { status: 200, body: explain(asked) };
};

export const releaseSignInLimits: AdminHandler<"releaseSignInLimits"> = (deps, request) =>
  changeWithPerson(deps, request, async (tx, personId, origin) => {
    if ((await readLogin(tx, personId, origin.at)) === null) throw loginUnknown();
    await releaseSignInLimitsIn(tx, personId, origin);
  });
