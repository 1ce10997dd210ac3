import { postAndRedirect, readImageUpload, unwrap, unwrapRecord, unwrapUnlessDone } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";

const app = "/admin/v1/apps/{clientId}";
const registrationAddress = (request: PageRequest): string => `${addressOf(request)}/registration`;

const linesOf = (text: string): string[] => [...new Set(text.split(/\s*\n\s*/).filter((line) => line !== ""))];

function readTyped({ field }: PageRequest) {
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

export async function showRegistration(request: PageRequest): Promise<PageView> {
  const { record, tag } = await unwrapRecord(request.api.GET(app, { params: { path: request.path } }));
  const isTyped = request.field("form") === "registration";
  const shown = isTyped ? { ...record, ...readTyped(request) } : record;
  const isStale = request.refused?.code === "precondition_failed";
  return showAppPage(request, {
    app: record,
    page: "registration",
    view: "registration",
    model: { shown: isStale ? record : shown, tag, algorithms, spellings },
  });
}

export async function changeRegistration(request: PageRequest): Promise<Redirect> {
  const body = readTyped(request);
  const params = { path: request.path, header: { "If-Match": request.field("tag") } };
  await unwrapUnlessDone(request.api.PATCH(app, { params, body }), body);
  return { to: registrationAddress(request), done: "registrationChanged" };
}

export async function putLogo(request: PageRequest): Promise<Redirect> {
  const { api, path } = request;
  await unwrap(api.PUT(`${app}/logo`, { params: { path }, ...(await readImageUpload(request)) }));
  return { to: registrationAddress(request), done: "logoKept" };
}

export const removeLogo = postAndRedirect("logoRemoved", registrationAddress, ({ api, path }) =>
  api.DELETE(`${app}/logo`, { params: { path } }),
);
