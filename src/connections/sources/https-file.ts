import { basename } from "node:path";
import { describeFile, refuseHalf } from "./file.ts";
import { basic } from "./requests.ts";
import type { RosterSource } from "./source.ts";

/** With a user name, the secret is its password (RFC 7617), otherwise a bearer token. */
function authorizationOf(userName: string | undefined, secret: string | null): Record<string, string> {
  if (secret === null) return {};
  if (userName === undefined) return { authorization: `Bearer ${secret}` };
  return basic(userName, secret);
}

/** A file at an address, which the server sends only if it changed since its ETag. */
export const httpsFile: RosterSource = {
  fields: { address: "required", userName: "optional" },
  secret: "optional",
  async read({ settings: { address = "", userName }, secret, validator }, { requests, makeFile }) {
    const url = new URL(address);
    const path = makeFile();
    const headers = {
      ...authorizationOf(userName, secret),
      ...(validator !== null && { "if-none-match": validator }),
    };
    const answer = await requests.save(url, path, { headers });
    if (answer.status === 304) return "unchanged";
    await refuseHalf(path);
    const etag = answer.header("etag");
    const fileName = decodeName(basename(url.pathname));
    return { ...(await describeFile(path)), path, fileName, ...(etag !== null && { validator: etag }) };
  },
};

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name).replace(/[\p{C}/\\]/gu, "") || "roster";
  } catch {
    return "roster";
  }
}
