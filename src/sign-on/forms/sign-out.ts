import { isUpstream } from "../../accounts/index.ts";
import { leaveSession } from "./complete-sign-in.ts";
import { noteSignedOut } from "./last-sign-in.ts";
import { type PageRequest, sessionOf } from "./page-request.ts";

/**
 * Ends the session of this browser. Returns where the browser goes. A session from the login of a school ends on the
 * page there, whose form may lead to that login, too.
 */
export async function signOut(request: PageRequest): Promise<string> {
  const provider = request.deps.provider();
  const { amr } = await sessionOf(request);
  if (isUpstream(amr)) return provider.pathFor("end_session");
  await leaveSession(request, { unlessOf: null, interaction: null });
  noteSignedOut(request);
  return provider.pathFor("end_session_success");
}
