import { makeOwnCommand } from "./command.ts";
import { done } from "./lines.ts";
import { option } from "./option.ts";

export const logout = makeOwnCommand({
  summary: "Forget a remote service and its secret; the one that is used, or the only one, if --name is left out.",
  options: { name: option.text("Its name or address.", "name|address") },
  run: async ({ remotes }, { options: { name } }) => {
    const { AppError } = await import("../platform/errors.ts");
    const { findRemote } = await import("./remote/remotes-file.ts");
    const { used, known } = await remotes.read();
    const wanted = name ?? used ?? (known.length === 1 ? known[0]!.name : undefined);
    const found = wanted === undefined ? null : findRemote({ used, known }, wanted);
    if (found === null)
      throw new AppError("not_found", "remote_not_found", "Which remote service? Give its name: --name <name>.");
    const left = known.filter((remote) => remote.name !== found.name);
    await remotes.write({ used: used === found.name ? null : used, known: left });
    return done(`Logged out of ${found.address}. Its secret is no longer kept here.`, {
      name: found.name,
      address: found.address,
    });
  },
});
