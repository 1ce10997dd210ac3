import type { Schemas } from "./admin-api.ts";
import type { Result } from "./command.ts";

export const showLogin = ({ personId, username, password }: Schemas["LoginSecret"]): Result => ({
  lines: [`User name: ${username}`, `Password: ${password}`, "The password is not shown again."],
  quiet: [password],
  data: { id: personId, username, password },
});
