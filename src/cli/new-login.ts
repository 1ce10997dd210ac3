import type { PersonId } from "../directory/index.ts";
import type { Result, Tools } from "./command.ts";

/** Gives a person a user name and a new password, and answers the password. Errors: those of `setLogin`. */
export async function setLoginHere(tools: Tools, personId: PersonId, username: string): Promise<string> {
  // Read when it is needed: its libraries take long to load.
  const { findSignInSettingsOf, makePassword, setLogin } = await import("../accounts/index.ts");
  return tools.withDatabase(async ({ db }) => {
    const settings = await findSignInSettingsOf(db, personId);
    const password = makePassword(settings?.passwordKind ?? "LETTERS");
    await setLogin(
      db,
      { personId, username, password, mustChange: settings?.mustChangePassword ?? false },
      tools.origin(),
    );
    return password;
  });
}

/** A login with its password, which is shown only once. */
export const showLogin = (id: string, username: string, password: string): Result => ({
  lines: [`User name: ${username}`, `Password: ${password}`, "The password is not shown again."],
  quiet: [password],
  data: { id, username, password },
});
