import {
  readImageUpload,
  take,
  takeRecord,
  takeUnlessDone,
  type Gone,
  type Shown,
  type Visit,
} from "../frame/index.ts";
import { addressOf, appPath, refuseOtherApp, showAppPage } from "./place.ts";

const app = "/admin/v1/apps/{clientId}";

const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/\s*\n\s*/)
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  ),
];

/** What the form says of the registration. Shape: a text that is empty is removed. */
function readTyped({ field }: Visit) {
  const orNull = (name: string) => field(name) || null;
  return {
    name: field("name"),
    provider: orNull("provider"),
    description: { de: orNull("descriptionDe"), en: orNull("descriptionEn") },
    purpose: { de: orNull("purposeDe"), en: orNull("purposeEn") },
    privacyUrl: orNull("privacyUrl"),
    supportAddress: orNull("supportAddress"),
    redirectUris: linesOf(field("redirectUris")),
    postLogoutRedirectUris: linesOf(field("postLogoutRedirectUris")),
    loginUrl: orNull("loginUrl"),
    backchannelLogoutUri: orNull("backchannelLogoutUri"),
    pkceRequired: field("pkceRequired") === "on" || field("type") === "PUBLIC",
    idTokenAlgorithm: algorithms.find((one) => one === field("idTokenAlgorithm")) ?? "RS256",
    schulconnexSpelling: spellings.find((one) => one === field("schulconnexSpelling")) ?? "V1_4",
  };
}

const algorithms = ["RS256", "ES256", "EdDSA"] as const;
const spellings = ["V1_4", "V1_7"] as const;

/** The registration as it is; of a form that was refused as it was typed. */
export async function showRegistration(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  const { record, tag } = await takeRecord(visit.api.GET(app, { params: { path: appPath(visit) } }));
  const isTyped = visit.field("form") === "registration";
  const shown = isTyped ? { ...record, ...readTyped(visit) } : record;
  const isStale = visit.refused?.code === "precondition_failed";
  return showAppPage(visit, {
    app: record,
    page: "registration",
    view: "registration",
    model: { shown: isStale ? record : shown, tag, algorithms, spellings },
  });
}

export async function changeRegistration(visit: Visit): Promise<Gone> {
  refuseOtherApp(visit);
  const body = readTyped(visit);
  const params = { path: appPath(visit), header: { "If-Match": visit.field("tag") } };
  await takeUnlessDone(visit.api.PATCH(app, { params, body }), body);
  return { to: `${addressOf(visit)}/registration`, done: "registrationChanged" };
}

export async function putLogo(visit: Visit): Promise<Gone> {
  refuseOtherApp(visit);
  const bytes = await readImageUpload(visit);
  const sent = visit.api.PUT(`${app}/logo`, {
    params: { path: appPath(visit) },
    // What it is, is read from its bytes.
    headers: { "Content-Type": "image/png" },
    body: bytes as never,
    bodySerializer: (body: unknown) => body as never,
  });
  await take(sent);
  return { to: `${addressOf(visit)}/registration`, done: "logoKept" };
}

export async function removeLogo(visit: Visit): Promise<Gone> {
  refuseOtherApp(visit);
  await take(visit.api.DELETE(`${app}/logo`, { params: { path: appPath(visit) } }));
  return { to: `${addressOf(visit)}/registration`, done: "logoRemoved" };
}
