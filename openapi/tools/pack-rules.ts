import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dirname, "../..");

/**
 * Packs the Spectral rules into a tarball whose rules link to their pages on the service at `issuer`.
 *
 * Shape:  the path of the tarball, in `folder`.
 * Errors: throws without a full host name: Spectral takes no `documentationUrl` on localhost.
 */
export function packRules(issuer: string, folder: string): string {
  const address = new URL(issuer).href.replace(/\/$/, "");
  if (!/\.[a-z]+$/.test(new URL(issuer).hostname)) throw new Error("--issuer needs a full host name");
  const copy = join(folder, "spectral-rules");
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "openapi/rules"), copy, { recursive: true });
  for (const ruleset of ["general.yaml", "schultor.yaml"]) {
    const path = join(copy, ruleset);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("https://login.example.org", address));
  }
  const packed = execFileSync("npm", ["pack", "--json", "--offline", "--pack-destination", resolve(folder), copy]);
  rmSync(copy, { recursive: true });
  const [{ filename }] = JSON.parse(packed.toString()) as [{ filename: string }];
  return join(resolve(folder), filename);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { issuer: { type: "string", default: "" } } });
  console.log(packRules(values.issuer, join(root, ".cache/rules")));
}
