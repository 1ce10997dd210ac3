import { enumOf } from "../../platform/contract-texts.ts";
import { listKeys } from "../../platform/text/key-set.ts";
import { readForm, readImageUpload, refuseField, type FieldName, type PageRequest } from "../frame/index.ts";
import { app, type App, showAppPage } from "./app-page.ts";

export const registration = `${app}/registration`;

const fields: readonly FieldName[] = [
  ...["name", "provider", "privacyUrl", "supportAddress", "redirectUris", "postLogoutRedirectUris", "loginUrl"],
  ...["backchannelLogoutUri", "jwksUri", "scopePlatform", "pkceRequired", "confirmsErasures"],
  ["descriptionDe", "description/de"],
  ["descriptionEn", "description/en"],
  ["purposeDe", "purpose/de"],
  ["purposeEn", "purpose/en"],
  ["scope", "defaultScopes"],
];

/** A public app has no secret, and no fields for one. */
function readTyped(request: PageRequest) {
  const { field } = request;
  const read = readForm(request, "updateApp", fields);
  const isPrivate = field("type") !== "PUBLIC";
  const method = isPrivate ? field("tokenEndpointAuthMethod") || "client_secret_basic" : "none";
  return {
    ...(read as Required<typeof read>),
    tokenEndpointAuthMethod: method as App["tokenEndpointAuthMethod"],
    pkceRequired: read.pkceRequired === true || !isPrivate,
    idTokenAlgorithm: (field("idTokenAlgorithm") || "RS256") as App["idTokenAlgorithm"],
    schulconnexSpelling: (field("schulconnexSpelling") || "V1_4") as App["schulconnexSpelling"],
  };
}

/** Errors: Refused public_key_refused. */
export function readRegistration(request: PageRequest) {
  const text = request.field("publicKeys");
  const keys = text === "" ? [] : listKeys(text);
  if (keys === null || keys.some((key) => "d" in key)) throw refuseField("publicKeys", "public_key_refused");
  return { ...readTyped(request), publicKeys: keys as App["publicKeys"] };
}

export async function showRegistration(request: PageRequest) {
  const { record, tag } = await request.getRecord("getApp");
  const dropsTyped = request.refused?.code === "precondition_failed";
  const isTyped = !dropsTyped && request.field("form") === "registration";
  const present = record.publicKeys.length === 0 ? "" : JSON.stringify({ keys: record.publicKeys }, null, 2);
  const model = {
    shown: isTyped ? { ...record, ...readTyped(request) } : record,
    keys: isTyped ? request.field("publicKeys") : present,
    tag,
    // Only a public app has none.
    authMethods: enumOf("updateApp", "tokenEndpointAuthMethod").filter((method) => method !== "none"),
    algorithms: enumOf("updateApp", "idTokenAlgorithm"),
    spellings: enumOf("updateApp", "schulconnexSpelling"),
  };
  return showAppPage(request, { app: record, page: "registration", view: "registration", dropsTyped, model });
}

export async function putLogo(request: PageRequest) {
  await request.call("putAppLogo", { body: await readImageUpload(request) });
  return { to: request.at(registration), done: "logoKept" };
}
