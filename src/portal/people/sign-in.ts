import type { AdminSchemas } from "../../admin/index.ts";
import { nameOf, unwrap, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { addressOf, readPerson } from "./record.ts";

type Step = AdminSchemas["SignInStep"];
type App = { clientId: string; name: string };

const mostApps = 200;

/** The apps that the school can choose; none if the reader may not read them. */
async function listApps(request: PageRequest): Promise<App[]> {
  const { api, path } = request;
  if (!request.may("listCatalogue")) return unwrap(api.GET("/admin/v1/people/{personId}/apps", { params: { path } }));
  const params = { path, query: { limit: mostApps } };
  return (await unwrapPage(api.GET("/admin/v1/schools/{schoolId}/catalogue", { params }))).items;
}

/** How to fix a refused step: a form sent to `action`, or a page. */
type Fix = { action: string } | { href: string } | { roles: string };

function fixOf({ fix, values }: Step, clientId: string, request: PageRequest): Fix | null {
  if (fix === null) return null;
  const { t } = request;
  if (!fix.isAllowed) return { roles: fix.roles.map((role) => t(`staffRoles.${role}`)).join(", ") };
  const base = addressOf(request);
  if (fix.operationId === "restorePerson") return { action: `${base}/restore` };
  if (fix.operationId === "unblockPerson") return { action: `${base}/unblock` };
  if (fix.operationId === "releaseSignInLimits") return { action: `${base}/release` };
  if (fix.operationId === "putGrant")
    return { href: `/admin/schools/${values.schoolId ?? request.param("schoolId")}/apps/${clientId}` };
  return { href: `${base}#login` };
}

function wordsOf({ code, outcome, values }: Step, { t, times }: PageRequest): string {
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

/** Explains step by step why a person can or cannot sign in to an app, with fixes. */
export async function showSignIn(request: PageRequest): Promise<PageView> {
  const { api, path, t, query } = request;
  const clientId = query("app");
  const params = { path, query: { app: clientId } };
  const [{ record: person }, apps, explanation] = await Promise.all([
    readPerson(request),
    listApps(request),
    clientId === "" ? null : unwrap(api.GET("/admin/v1/people/{personId}/sign-in-explanation", { params })),
  ]);
  const steps = explanation?.steps.map((step) => ({
    code: step.code,
    outcome: step.outcome,
    text: wordsOf(step, request),
    fix: fixOf(step, clientId, request),
  }));
  const model = { base: addressOf(request), fullName: nameOf(person, request), apps, clientId, steps: steps ?? null };
  const isAllowed = explanation?.isAllowed ?? false;
  return { title: t("signIn.title"), view: "sign-in", model: { ...model, isAllowed } };
}
