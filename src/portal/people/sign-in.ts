import type { AdminSchemas } from "../../admin/index.ts";
import { take, takePage, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, pathOf, readPerson } from "./record.ts";
import { nameOf } from "./words.ts";

type Step = AdminSchemas["SignInStep"];
type App = { clientId: string; name: string };

const mostApps = 200;

/** The apps that can be asked about: all that the school can choose, for a role that sees them. */
async function listApps(visit: Visit): Promise<App[]> {
  const { api, part } = visit;
  if (!visit.may("listCatalogue"))
    return take(api.GET("/admin/v1/people/{personId}/apps", { params: { path: pathOf(visit) } }));
  const params = { path: { schoolId: part("schoolId") }, query: { limit: mostApps } };
  return (await takePage(api.GET("/admin/v1/schools/{schoolId}/catalogue", { params }))).items;
}

/** Where a refused step is mended: a form that is sent to `action`, or a page. */
type Fix = { action: string } | { href: string } | { roles: string };

function fixOf({ fix, values }: Step, clientId: string, visit: Visit): Fix | null {
  if (fix === null) return null;
  const { t } = visit;
  if (!fix.isAllowed) return { roles: fix.roles.map((role) => t(`staffRoles.${role}`)).join(", ") };
  const base = addressOf(visit);
  if (fix.operationId === "restorePerson") return { action: `${base}/restore` };
  if (fix.operationId === "unblockPerson") return { action: `${base}/unblock` };
  if (fix.operationId === "releaseSignInLimits") return { action: `${base}/release` };
  if (fix.operationId === "putGrant")
    return { href: `/admin/schools/${values.schoolId ?? visit.part("schoolId")}/apps/${clientId}` };
  return { href: `${base}#login` };
}

function wordsOf({ code, outcome, values }: Step, { t, times }: Visit): string {
  const { schoolName = "", username = "", since, until, schools = 0, roles = [], groups = [] } = values;
  const named = {
    school: schoolName,
    username,
    since: times.day(since),
    until: times.time(until),
    count: schools,
    roles: roles.map((role) => t(`roles.${role}`)).join(", "),
    groups: groups.map(({ name }) => name).join(", "),
  };
  const ofAudience = code === "audience" && outcome !== "PASSED" ? `_${values.audience ?? "NOBODY"}` : "";
  const ofGuest = code === "login" && outcome !== "REFUSED" && values.username === undefined ? "_GUEST" : "";
  const of = ofAudience + ofGuest;
  return t(`steps.${code}.${outcome}${of}`, named);
}

/** Why somebody can or cannot sign in to an app, step by step, with what mends each step. */
export async function showSignIn(visit: Visit): Promise<Shown> {
  const { api, t, query } = visit;
  const clientId = query("app");
  const params = { path: pathOf(visit), query: { app: clientId } };
  const [{ record: person }, apps, explanation] = await Promise.all([
    readPerson(visit),
    listApps(visit),
    clientId === "" ? null : take(api.GET("/admin/v1/people/{personId}/sign-in-explanation", { params })),
  ]);
  const steps = explanation?.steps.map((step) => ({
    code: step.code,
    outcome: step.outcome,
    text: wordsOf(step, visit),
    fix: fixOf(step, clientId, visit),
  }));
  const model = { base: addressOf(visit), fullName: nameOf(person, visit), apps, clientId, steps: steps ?? null };
  const isAllowed = explanation?.isAllowed ?? false;
  return { title: t("signIn.title"), view: "sign-in", model: { ...model, isAllowed } };
}

/** Ends the wait after wrong passwords. */
export async function release(visit: Visit): Promise<Gone> {
  await take(visit.api.POST("/admin/v1/people/{personId}/login/release", { params: { path: pathOf(visit) } }));
  return { to: addressOf(visit), done: "waitEnded" };
}
