import { addressInLanguage, readLocale } from "../../../platform/pages/index.ts";
import type { Destination, UpstreamFailure } from "../../../upstream/index.ts";
import { findWaiting } from "../waiting-app.ts";
import {
  type PageRequest,
  redirect,
  requestIdOf,
  sendPage,
  addressWith,
  signInPath,
  appRequestPath,
  setUpLinkPath,
} from "../page-request.ts";
import { renderUpstreamFailurePage } from "../pages/index.ts";
import { findWaysIn } from "../last-sign-in.ts";

/** Says why the login of a school signed nobody in, and leads back to where it was chosen. */
export async function showFailure(request: PageRequest, failure: UpstreamFailure, to: Destination | null) {
  const { code } = failure;
  if (to !== null && "test" in to) return redirect(request, `${setUpLinkPath}/${to.test}?failure=${code}`);
  // A silent trip: the app gets its answer without a session.
  if (to !== null && "path" in to && isAppRequest(to.path)) return redirect(request, to.path);
  const again = await findWayBack(request, to);
  const [path = "", query] = again.split("?");
  const model = {
    code,
    login: await findLogin(request, failure),
    again,
    other: `${path}?${query === undefined ? "" : `${query}&`}other`,
    requestId: requestIdOf(request) ?? null,
  };
  const languageUrl = request.req.method === "GET" ? addressInLanguage(again) : null;
  sendPage(request, renderUpstreamFailurePage(model, { locale: readLocale(request.req), languageUrl }));
}

export const isAppRequest = (path: string): boolean => path.startsWith(`${appRequestPath}?`);

/** The page of the app that waits in this browser, or the sign-in page. */
async function findWayBack(request: PageRequest, to: Destination | null): Promise<string> {
  if (to !== null && "path" in to) return addressWith(signInPath, to.path);
  const uid = to !== null && "interaction" in to ? to.interaction : (await findWaiting(request))?.uid;
  return uid === undefined ? signInPath : `/interaction/${uid}`;
}

/** The login by its name; null if its school does not show it. */
async function findLogin({ deps }: PageRequest, { schoolId, connectionId }: UpstreamFailure) {
  const ways = schoolId === null ? null : await findWaysIn(deps, schoolId);
  const button = ways?.buttons.find((one) => one.connectionId === connectionId);
  if (!ways || !button) return null;
  return { name: button.name, school: ways.school, allowsPasswords: ways.allowsPasswords };
}
