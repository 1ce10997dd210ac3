import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { fillAddresses, fillPlatform } from "./fill.ts";

/** A contract as it is served. */
export type PublishedDocument = {
  name: string;
  title: string;
  /** The title in a list of them all. */
  label: string;
  description: string;
  version: string;
  /** Another form of a document, which lists leave to that document. */
  isVariant: boolean;
  yaml: string;
  json: string;
};

export type Place = { platform: string; baseUrl: string; issuerUrl: string };

const bundles = join(import.meta.dirname, "..", "..", "generated", "openapi");

/** For staff and for programs that work for them; partners get none of these. */
const forStaff = new Set(["admin"]);

/** Reads every bundle for partners and fills in the operator's name and addresses. */
export function loadPublishedDocuments({ platform, baseUrl, issuerUrl }: Place): PublishedDocument[] {
  const names = readdirSync(bundles)
    .flatMap((file) => (file.endsWith(".yaml") ? [file.slice(0, -".yaml".length)] : []))
    .filter((name) => !forStaff.has(name));
  return names.sort().map((name) => {
    const written = readFileSync(join(bundles, `${name}.yaml`), "utf8");
    const serverUrl = name === "sign-on" ? issuerUrl : baseUrl;
    const yaml = fillPlatform(fillAddresses(written, { serverUrl, issuerUrl }), platform);
    const parsed = parse(yaml) as { info: { title: string; description: string; version: string } };
    const { title, description, version } = parsed.info;
    const label = title.replace(/^Schultor /, "");
    return {
      name,
      title,
      label,
      description,
      version,
      isVariant: names.some((other) => name.startsWith(`${other}-`)),
      yaml,
      json: JSON.stringify(parsed),
    };
  });
}
