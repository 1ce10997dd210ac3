import { Router } from "express";
import { packageNames } from "./contents.ts";
import type { Place } from "./documents.ts";
import type { Origin } from "./packages/pack.ts";
import { answerStatic, onFirstRequest, runAside } from "./static-answer.ts";

/** Where the sources of the packages are and under which licence, as the operator names them. */
export type Packages = Pick<Origin, "repository" | "licence">;

const module = new URL("./packages/make.ts", import.meta.url);
const typeOf = (name: string): string => (name.endsWith(".js") ? "text/javascript; charset=utf-8" : "application/gzip");

/** Serves the packages for partners, each made at its first request. */
export function makeDownloadsRouter(place: Place & { packages: Packages }): Router {
  const { platform, baseUrl, issuerUrl, packages } = place;
  const origin: Origin = { platform, baseUrl, issuerUrl, ...packages };
  const router = Router();
  for (const name of packageNames) {
    const makeAnswer = async () => {
      const bytes = (await runAside({ module, seconds: 60 }, { name, origin })) as Uint8Array;
      return answerStatic(Buffer.from(bytes), { contentType: typeOf(name) });
    };
    router.get(`/${name}`, onFirstRequest(makeAnswer));
  }
  return router;
}
