import { createHash } from "node:crypto";
import {
  describeDisclosures,
  makeArea,
  postAndRedirect,
  unwrap,
  unwrapIfFound,
  unwrapPage,
  type PageHandler,
  type PageRequest,
} from "../frame/index.ts";

const most = 100;

/** `/account`: a person's own roles, sessions and consents. */
export const accountPages = makeArea({ folder: import.meta.dirname, page: null }, (pages) => {
  pages.get("/account", showAccount);
  pages.post("/account/sessions/:sessionId/end", endSession, showAccount);
  pages.post("/account/consents/:clientId/withdraw", withdrawConsent, showAccount);
  pages.post("/account/school-choices/:clientId/withdraw", withdrawSchoolChoice, showAccount);
  pages.post("/account/logins/:connectionId/end", unlink, showAccount);
  pages.post("/account/sign-out", signOutEverywhere, showAccount);
  pages.post("/account/sign-out-here", async ({ signOut }) => ({ to: await signOut() }));
});

const ofMe = ({ path, visitor }: PageRequest) => ({ ...path, personId: visitor.personId });
const account = () => "/account";

const showAccount: PageHandler = async (request) => {
  const { api, me, t, times, visitor } = request;
  const params = { path: ofMe(request), query: { limit: most } };
  const [login, sessions, apps, disclosures, links] = await Promise.all([
    unwrapIfFound(api.GET("/admin/v1/people/{personId}/login", { params: { path: params.path } })),
    unwrapPage(api.GET("/admin/v1/people/{personId}/sessions", { params })),
    unwrapPage(api.GET("/admin/v1/people/{personId}/apps", { params })),
    unwrapPage(api.GET("/admin/v1/people/{personId}/disclosures", { params })),
    unwrapPage(api.GET("/admin/v1/people/{personId}/upstream-links", { params })),
  ]);
  const here = idOfSession(visitor.sessionUid);
  return {
    title: t("frame.account"),
    view: "account",
    model: {
      name: me.name === null ? "" : `${me.name.firstFull} ${me.name.last}`,
      mayChangePassword: login?.mayChangePassword ?? false,
      usesPassword: login?.hasPassword === true && login.usesPassword,
      isStaff: me.roles.length > 0,
      roles: me.roles,
      sessions: sessions.items.map((session) => ({ ...session, isHere: session.id === here })),
      used: apps.items.filter(({ lastSignInAt }) => lastSignInAt !== null),
      consents: apps.items.filter(({ consent, chosenSchool }) => consent !== null || chosenSchool !== null),
      links: links.items,
      disclosed: describeDisclosures(disclosures.items, { t, times }),
      recordedSince: disclosures.items[0]?.recordedSince ?? null,
    },
  };
};

function idOfSession(uid: string): string {
  const digest = createHash("md5").update(uid).digest("hex");
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const endSession = postAndRedirect("sessionEnded", account, (request) => {
  if (request.param("sessionId") === idOfSession(request.visitor.sessionUid)) request.noteSignedOut();
  return request.api.DELETE("/admin/v1/people/{personId}/sessions/{sessionId}", { params: { path: ofMe(request) } });
});

const withdrawConsent = postAndRedirect("consentWithdrawn", account, (request) =>
  request.api.DELETE("/admin/v1/people/{personId}/consents/{clientId}", { params: { path: ofMe(request) } }),
);

const withdrawSchoolChoice = postAndRedirect("schoolChoiceWithdrawn", account, (request) =>
  request.api.DELETE("/admin/v1/people/{personId}/school-choices/{clientId}", { params: { path: ofMe(request) } }),
);

const unlink = postAndRedirect("loginUnlinked", account, (request) =>
  request.api.DELETE("/admin/v1/people/{personId}/upstream-links/{connectionId}", { params: { path: ofMe(request) } }),
);

const signOutEverywhere: PageHandler = async (request) => {
  await unwrap(request.api.POST("/admin/v1/people/{personId}/sign-out", { params: { path: ofMe(request) } }));
  request.noteSignedOut();
  return { to: "/" };
};
