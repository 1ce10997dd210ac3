import type { AdminSchemas } from "../../admin/index.ts";
import { enumOf } from "../../platform/contract-texts.ts";
import { listKeys } from "../../platform/crypto/public-key.ts";
import { readForm, refuseField, type FieldName, type PageRequest } from "../frame/index.ts";
import { app, type App, showAppPage } from "./app-page.ts";
import { scopesOf } from "./scopes.ts";

export const registration = `${app}/registration`;

const fields: readonly FieldName[] = [
  ...["name", "provider", "privacyUrl", "supportAddress", "redirectUris", "postLogoutRedirectUris", "loginUrl"],
  ...["backchannelLogoutUri", "jwksUri", "scopePlatform", "pkceRequired", "confirmsErasures", "idTokenAlgorithm"],
  "schulconnexSpelling",
  ["descriptionDe", "description/de"],
  ["descriptionEn", "description/en"],
  ["purposeDe", "purpose/de"],
  ["purposeEn", "purpose/en"],
  ["scope", "defaultScopes"],
];

/** A public app has no secret, and no fields for one. Errors: Refused public_key_refused. */
export function readRegistration(request: PageRequest): AdminSchemas["AppUpdate"] {
  const { field } = request;
  const text = field("publicKeys");
  const keys = text === "" ? [] : listKeys(text);
  if (keys === null || keys.some((key) => "d" in key)) throw refuseField("publicKeys", "public_key_refused");
  const read = readForm(request, "updateApp", fields);
  const isPrivate = field("type") !== "PUBLIC";
  const method = isPrivate ? field("tokenEndpointAuthMethod") || "client_secret_basic" : "none";
  return {
    ...read,
    tokenEndpointAuthMethod: method as App["tokenEndpointAuthMethod"],
    publicKeys: keys as App["publicKeys"],
    pkceRequired: read.pkceRequired === true || !isPrivate,
  };
}

export async function showRegistration(request: PageRequest) {
  const { record, tag } = await request.getRecord("getApp");
  const model = {
    keys: record.publicKeys.length === 0 ? "" : JSON.stringify({ keys: record.publicKeys }, null, 2),
    tag,
    scopesOf: scopesOf(request),
    // Only a public app has none.
    authMethods: enumOf("updateApp", "tokenEndpointAuthMethod").filter((method) => method !== "none"),
  };
  const dropsTyped = request.refused?.code === "precondition_failed";
  return showAppPage(request, { app: record, page: "registration", view: "registration", dropsTyped, model });
}
