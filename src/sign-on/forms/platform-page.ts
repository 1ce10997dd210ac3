import { readLocale } from "../../platform/pages/index.ts";
import { formTargetsOf } from "./form-targets.ts";
import type { PageRequest } from "./page-request.ts";
import type { LeavingContext } from "./pages/index.ts";
import { appRequestPath, readReturnPath } from "./return-path.ts";

export const signInPath = "/sign-in";
export const setUpPath = `${signInPath}/second-factor`;
export const confirmPath = `${signInPath}/confirm`;

export const returnPathOf = ({ req }: PageRequest): string => readReturnPath(req.query["return"]);

/** The address of a page below `signInPath` that continues at `path`. */
export function addressWith(page: string, path: string, query: Record<string, string> = {}): string {
  const all = new URLSearchParams({ ...(path !== "/" && { return: path }), ...query });
  return all.size === 0 ? page : `${page}?${all.toString()}`;
}

export const addressOf = (request: PageRequest, page: string, query: Record<string, string> = {}): string =>
  addressWith(page, returnPathOf(request), query);

export const contextOf = (request: PageRequest, page: string): LeavingContext => ({
  locale: readLocale(request.req),
  languageUrl: (lang) => addressOf(request, page, { lang }),
  formTargets: returnPathOf(request).startsWith(appRequestPath) ? formTargetsOf(request.deps) : [],
});
