import { type RequestHandler, Router } from "express";
import type { Place } from "./documents.ts";
import { runAside } from "./aside.ts";
import { packageNames, type PackageName } from "./packages/names.ts";
import type { Origin } from "./packages/pack.ts";
import { answerStatic, onFirstRequest } from "./static-answer.ts";

/** Where the sources of the packages are and under which licence, as the operator names them. */
export type Packages = Pick<Origin, "repository" | "licence">;

const module = new URL("./packages/make.ts", import.meta.url);
const typeOf = (name: string): string => (name.endsWith(".js") ? "text/javascript; charset=utf-8" : "application/gzip");

/** Serves the packages for partners, each made at its first request. */
export function makeDownloadsRouter({
  platform,
  baseUrl,
  issuerUrl,
  packages,
}: Place & { packages: Packages }): Router {
  const router = Router();
  const origin: Origin = { platform, baseUrl, issuerUrl, ...packages };
  const make = async (name: PackageName): Promise<RequestHandler> => {
    const made = await runAside({ module, seconds: 60 }, { name, origin });
    return answerStatic(Buffer.from(made as Uint8Array), { contentType: typeOf(name) });
  };
  for (const name of packageNames)
    router.get(
      `/${name}`,
      onFirstRequest(() => make(name)),
    );
  return router;
}
