import {
  readImageUpload,
  unwrap,
  unwrapRecord,
  unwrapUnlessDone,
  type Redirect,
  type PageView,
  type PageRequest,
} from "../frame/index.ts";
import { addressOf, appPath, showAppPage } from "./app-page.ts";

const app = "/admin/v1/apps/{clientId}";

const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/\s*\n\s*/)
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  ),
];

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
  const { record, tag } = await unwrapRecord(request.api.GET(app, { params: { path: appPath(request) } }));
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
  const params = { path: appPath(request), header: { "If-Match": request.field("tag") } };
  await unwrapUnlessDone(request.api.PATCH(app, { params, body }), body);
  return { to: `${addressOf(request)}/registration`, done: "registrationChanged" };
}

export async function putLogo(request: PageRequest): Promise<Redirect> {
  const bytes = await readImageUpload(request);
  const sent = request.api.PUT(`${app}/logo`, {
    params: { path: appPath(request) },
    // The API detects the real type from the bytes.
    headers: { "Content-Type": "image/png" },
    body: bytes as never,
    bodySerializer: (body: unknown) => body as never,
  });
  await unwrap(sent);
  return { to: `${addressOf(request)}/registration`, done: "logoKept" };
}

export async function removeLogo(request: PageRequest): Promise<Redirect> {
  await unwrap(request.api.DELETE(`${app}/logo`, { params: { path: appPath(request) } }));
  return { to: `${addressOf(request)}/registration`, done: "logoRemoved" };
}
