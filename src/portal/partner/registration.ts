import { listKeys } from "../../platform/text/key-set.ts";
import {
  postAndRedirect,
  readImageUpload,
  refuseField,
  unwrap,
  unwrapRecord,
  unwrapUnlessDone,
} from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { addressOf, type App, showAppPage } from "./app-page.ts";
import { scopeNames } from "./options.ts";

const app = "/admin/v1/apps/{clientId}";
const registrationAddress = (request: PageRequest): string => `${addressOf(request)}/registration`;

const linesOf = (text: string): string[] => [...new Set(text.split(/\s*\n\s*/).filter((line) => line !== ""))];

function readTyped({ field, typed }: PageRequest) {
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
    tokenEndpointAuthMethod:
      field("type") === "PUBLIC"
        ? ("none" as const)
        : ((field("tokenEndpointAuthMethod") || "client_secret_basic") as App["tokenEndpointAuthMethod"]),
    jwksUri: orNull("jwksUri"),
    defaultScopes: scopeNames.filter((scope) => typed["scope"]?.includes(scope)),
    scopePlatform: orNull("scopePlatform"),
    pkceRequired: field("pkceRequired") === "on" || field("type") === "PUBLIC",
    confirmsErasures: field("confirmsErasures") === "on",
    idTokenAlgorithm: (field("idTokenAlgorithm") || "RS256") as App["idTokenAlgorithm"],
    schulconnexSpelling: (field("schulconnexSpelling") || "V1_4") as App["schulconnexSpelling"],
  };
}

/** Errors: Refused public_key_refused. */
function readPublicKeys({ field }: PageRequest): App["publicKeys"] {
  const keys = field("publicKeys") === "" ? [] : listKeys(field("publicKeys"));
  if (keys === null || keys.some((key) => "d" in key)) throw refuseField("publicKeys", "public_key_refused");
  return keys as App["publicKeys"];
}

const authMethods = ["client_secret_basic", "client_secret_post", "private_key_jwt"] as const;
const algorithms = ["RS256", "ES256", "EdDSA"] as const;
const spellings = ["V1_4", "V1_7"] as const;

export async function showRegistration(request: PageRequest): Promise<PageView> {
  const { record, tag } = await unwrapRecord(request.api.GET(app, { params: { path: request.path } }));
  const dropsTyped = request.refused?.code === "precondition_failed";
  const isTyped = !dropsTyped && request.field("form") === "registration";
  const shown = isTyped ? { ...record, ...readTyped(request) } : record;
  const written = record.publicKeys.length === 0 ? "" : JSON.stringify({ keys: record.publicKeys }, null, 2);
  const keys = isTyped ? request.field("publicKeys") : written;
  return showAppPage(request, {
    app: record,
    page: "registration",
    view: "registration",
    dropsTyped,
    model: { shown, keys, tag, authMethods, algorithms, spellings },
  });
}

export async function changeRegistration(request: PageRequest): Promise<Redirect> {
  const body = { ...readTyped(request), publicKeys: readPublicKeys(request) };
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
