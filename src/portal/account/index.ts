import { createHash } from "node:crypto";
import { actOn, describeDisclosures, makeArea, makePage, type PageHandler, type PageRequest } from "../frame/index.ts";

const most = 100;

/** `/account`: a person's own roles, sessions and consents. */
export const accountPages = makeArea({ folder: import.meta.dirname, page: null }, (pages) => {
  const account = pages.at("/account", showAccount);
  account.post("sessions/:sessionId/end", endSession);
  account.act("consents/:clientId/withdraw", "withdrawConsent", "consentWithdrawn");
  account.act("school-choices/:clientId/withdraw", "withdrawSchoolChoice", "schoolChoiceWithdrawn");
  account.act("logins/:connectionId/end", "revokeUpstreamLink", "loginUnlinked");
  account.post("sign-out", signOutEverywhere);
  pages.post("/account/sign-out-here", async ({ signOut }) => ({ to: await signOut() }));
});

async function showAccount({ call, find, me, t, times, visitor }: PageRequest) {
  const query = { limit: most };
  const [login, sessions, apps, disclosures, links] = await Promise.all([
    find("getLogin"),
    call("listSessions", { query }),
    call("listAppsOfPerson", { query }),
    call("listDisclosuresOfPerson", { query }),
    call("listUpstreamLinksOfPerson", { query }),
  ]);
  const here = idOfSession(visitor.sessionUid);
  return makePage("account", t("frame.account"), {
    name: me.name === null ? "" : `${me.name.firstFull} ${me.name.last}`,
    mayChangePassword: login?.mayChangePassword ?? false,
    hasPictures: login !== null && login.pictureCode !== "NONE",
    usesPassword: login?.hasPassword === true && login.usesPassword,
    isStaff: me.roles.length > 0,
    roles: me.roles,
    sessions: sessions.map((session) => ({ ...session, isHere: session.id === here })),
    used: apps.filter(({ lastSignInAt }) => lastSignInAt !== null),
    consents: apps.filter(({ consent, chosenSchool }) => consent !== null || chosenSchool !== null),
    links,
    disclosed: describeDisclosures(disclosures, { t, times }),
    recordedSince: disclosures[0]?.recordedSince ?? null,
  });
}

function idOfSession(uid: string): string {
  const digest = createHash("md5").update(uid).digest("hex");
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

async function endSession(request: PageRequest) {
  if (request.param("sessionId") === idOfSession(request.visitor.sessionUid)) request.noteSignedOut();
  return actOn("endSession", "sessionEnded")(request);
}

const signOutEverywhere: PageHandler = async ({ call, noteSignedOut }) => {
  await call("signOutPerson");
  noteSignedOut();
  return { to: "/" };
};
