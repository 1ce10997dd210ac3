import type { Request, Response } from "express";
import type { KoaContextWithOIDC } from "oidc-provider";
import type { InteractionDeps } from "../../protocol/deps.ts";
import type { UpstreamSteps } from "../../protocol/provider/upstream-steps.ts";
import { noteSignedOut } from "../last-sign-in.ts";
import type { PageRequest } from "../page-request.ts";
import { beginSilently } from "./silent.ts";
import { signOutUpstream } from "./sign-out.ts";

/** What requests of the library need of this folder. */
export function makeUpstreamSteps(deps: () => InteractionDeps): UpstreamSteps {
  // The library has node's request and response, which is enough for cookies.
  const requestOf = ({ req, res }: KoaContextWithOIDC): PageRequest => ({
    deps: deps(),
    req: req as Request,
    res: res as Response,
  });
  return {
    beginSilently(ctx, address) {
      const maxAge = ctx.oidc.params?.["max_age"];
      const silent = { path: ctx.originalUrl, address, maxAge: maxAge === undefined ? undefined : Number(maxAge) };
      return beginSilently(requestOf(ctx), silent);
    },
    signOutUpstream: (ctx, session) => signOutUpstream(requestOf(ctx), session),
    noteSignedOut: (ctx) => noteSignedOut(requestOf(ctx)),
  };
}
