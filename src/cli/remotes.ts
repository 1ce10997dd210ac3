import { AppError } from "../platform/errors.ts";
import { makeOwnCommand, type Verbs } from "./command.ts";
import { done, wholeList, type Columns } from "./lines.ts";
import { argument } from "./option.ts";
import { login, logout } from "./remote-login.ts";
import { connectRemote } from "./remote/connect.ts";
import { bodyOf } from "./admin-api.ts";
import { actorOf } from "./remote/token.ts";
import { credentialsOf, findRemote } from "./remote/remotes-file.ts";

const columns: Columns<{ name: string; address: string; clientId: string; used: boolean }> = {
  name: ({ name }) => name,
  address: ({ address }) => address,
  "client id": ({ clientId }) => clientId,
  used: ({ used }) => (used ? "yes" : ""),
};

export const verbs: Verbs = {
  login,
  list: makeOwnCommand({
    summary: "List the remote services that you have logged in to.",
    run: async (tools) => {
      const { used, known } = await tools.remotes.read();
      const remotes = known.map(({ name, address, clientId }) => ({ name, address, clientId, used: name === used }));
      return wholeList("remotes", remotes, { columns, id: ({ name }) => name });
    },
  }),
  use: makeOwnCommand({
    summary: "Let commands act on a remote service also without --remote; local: on the database again.",
    args: { name: argument.text() },
    run: async (tools, { args: { name } }) => {
      const before = await tools.remotes.read();
      const remote = findRemote(before, name);
      await tools.remotes.write({ ...before, used: remote?.name ?? null });
      const place = remote === null ? "the database beside the program" : remote.address;
      return done(`Commands act on ${place}.`, { used: remote?.name ?? null, address: remote?.address ?? null });
    },
  }),
  logout,
  show: makeOwnCommand({
    summary: "Show as whom you act on a remote service, and in which roles.",
    args: { name: argument.text() },
    run: async (tools, { args: { name } }) => {
      const remote = findRemote(await tools.remotes.read(), name);
      if (remote === null)
        throw new AppError("not_found", "remote_not_found", "The local database is not a remote service.");
      const credentials = credentialsOf(remote, tools.remotes);
      const api = connectRemote(credentials, tools.tell);
      const me = await bodyOf(api.GET("/admin/v1/me"));
      const lines = me.roles.map(({ role, schoolIds, clientIds }) => [role, ...schoolIds, ...clientIds].join(" "));
      const { address } = remote;
      return {
        lines: [`${actorOf(credentials)} at ${address}: ${me.roles.length === 0 ? "no role" : "roles"}`, ...lines],
        data: { remote: remote.name, address, ...me },
      };
    },
  }),
};
