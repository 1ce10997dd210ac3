// Runs in a thread of its own.
import { makePackage, type Origin } from "../../clients/pack/index.ts";
import type { PackageName } from "../../clients/pack/names.ts";
import type { Addresses } from "./documents.ts";
import { fillAddresses, fillPlatform } from "./fill.ts";

export default async ({ name, origin }: { name: PackageName; origin: Addresses & Origin }): Promise<Uint8Array> => {
  const { platform, issuerUrl, baseUrl: serverUrl } = origin;
  const fill = (text: string) =>
    fillAddresses(fillPlatform(text.replaceAll("urn:schultor:", "urn:<platform>:"), platform), {
      issuerUrl,
      serverUrl,
    });
  return makePackage(name, origin, fill);
};
