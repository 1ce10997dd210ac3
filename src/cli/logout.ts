import { makeOwnCommand } from "./command.ts";
import { done } from "./lines.ts";
import { option } from "./option.ts";

export const logout = makeOwnCommand({
  summary:
    "End the login at a remote service, and forget it; the one that is used, or the only one, if --name is left out.",
  options: { name: option.text("Its name or address.", "name|address") },
  run: async ({ remotes, tell }, { options: { name } }) => {
    const { AppError } = await import("../platform/errors.ts");
    const { findRemote } = await import("./remote/remotes-file.ts");
    const { used, known } = await remotes.read();
    const wanted = name ?? used ?? (known.length === 1 ? known[0]!.name : undefined);
    const found = wanted === undefined ? null : findRemote({ used, known }, wanted);
    if (found === null)
      throw new AppError("not_found", "remote_not_found", "Which remote service? Give its name: --name <name>.");
    const left = known.filter((remote) => remote.name !== found.name);
    await remotes.write({ used: used === found.name ? null : used, known: left });
    const { name: called, address } = found;
    if (!("refreshToken" in found))
      return done(`Logged out of ${address}. Its secret is no longer kept here.`, { name: called, address });
    const { makeFetch } = await import("./remote/connect.ts");
    const { revoke } = await import("./remote/token.ts");
    await revoke(address, found.refreshToken, makeFetch(tell));
    return done(`Logged out of ${address}.`, { name: called, address });
  },
});
