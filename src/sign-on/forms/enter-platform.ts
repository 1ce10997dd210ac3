import { hasSecondFactor } from "../../accounts/index.ts";
import { findNextStep } from "../protocol/signed-in.ts";
import { signIn, type AuthenticatedPerson } from "./complete-sign-in.ts";
import { type PageRequest, redirect } from "./page-request.ts";
import { addressWith, confirmPath, setUpPath } from "./platform-page.ts";
import { keepPending } from "./second-factor/confirm.ts";

type EnteringPerson = Omit<AuthenticatedPerson, "cardId"> & { mustChange?: boolean | undefined };

/** Signs a person in to the platform, who continues at `path`; before that comes a second factor that is due. */
export async function enterPlatform(request: PageRequest, person: EnteringPerson, path: string): Promise<void> {
  const next = hasSecondFactor(person.amr) ? "none" : await findNextStep(request.deps, person.personId);
  if (next === "confirm") {
    keepPending(request, person);
    return redirect(request, addressWith(confirmPath, path));
  }
  await signIn(request, person, next === "set_up" ? addressWith(setUpPath, path) : path);
}
