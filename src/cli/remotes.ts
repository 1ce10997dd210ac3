import { readFile } from "node:fs/promises";
import { AppError } from "../platform/errors.ts";
import { makeOwnCommand, type Verbs, type OwnTools } from "./command.ts";
import { done, wholeList, type Columns } from "./lines.ts";
import { logout } from "./logout.ts";
import { argument, option, required, UsageError } from "./option.ts";
import { readAddress } from "./remote/address.ts";
import { connectRemote } from "./remote/connect.ts";
import { bodyOf } from "./admin-api.ts";
import { findRemote, localName } from "./remote/remotes-file.ts";

type Shown = { name: string; address: string; clientId: string; used: boolean };

const columns: Columns<Shown> = {
  name: ({ name }) => name,
  address: ({ address }) => address,
  "client id": ({ clientId }) => clientId,
  used: ({ used }) => (used ? "yes" : ""),
};

const nameShape = /^[a-z0-9][a-z0-9.:_-]*$/i;

function checkName(name: string): string {
  if (nameShape.test(name) && name !== localName) return name;
  throw new UsageError(
    `--name: '${name}' is not a valid name. Use letters, digits, dots and hyphens; 'local' is reserved.`,
  );
}

async function readSecret({ clientSecret, askSecret }: OwnTools, file: string | undefined): Promise<string> {
  const secret =
    file !== undefined
      ? (await readFile(file, "utf8")).trim()
      : (clientSecret ?? (await askSecret?.("Client secret (not shown): "))?.trim());
  if (secret) return secret;
  throw new UsageError("The secret is missing: set SCHULTOR_CLIENT_SECRET, or give --secret-file <path>.");
}

export const verbs: Verbs = {
  login: makeOwnCommand({
    summary:
      "Log in to a remote service as an app that holds a staff role; `login https://…` does the same. Its secret is asked for, or taken from SCHULTOR_CLIENT_SECRET, and kept in a file of yours alone.",
    args: { address: argument.text() },
    options: {
      clientId: required(option.text("The client id of the app.", "client-id")),
      secretFile: option.text("A file with its secret; /dev/stdin for what is piped.", "path"),
      name: option.text("What to call the service here; its host if left out.", "name"),
    },
    run: async (tools, { args, options: { clientId, secretFile, name } }) => {
      const address = readAddress(args.address);
      const called = checkName(name ?? new URL(address).host);
      const before = await tools.remotes.read();
      const clientSecret = await readSecret(tools, secretFile);
      const api = connectRemote({ address, clientId, clientSecret }, tools.tell);
      const { roles } = await bodyOf(api.GET("/admin/v1/me"));
      const others = before.known.filter((one) => one.name !== called && one.address !== address);
      await tools.remotes.write({ ...before, known: [...others, { name: called, address, clientId, clientSecret }] });
      const held = roles.map(({ role }) => role);
      const line = `Logged in to ${address} as ${clientId}, with ${held.length === 0 ? "no role yet" : held.join(", ")}.`;
      const next = `Commands act on it with --remote ${called}, with SCHULTOR_REMOTE=${called}, or all after: schultor remote use ${called}`;
      return { ...done(line, { name: called, address, clientId, roles: held }), lines: [line, next] };
    },
  }),
  list: makeOwnCommand({
    summary: "List the remote services that you have logged in to.",
    run: async (tools) => {
      const { used, known } = await tools.remotes.read();
      const shown = known.map(({ name, address, clientId }) => ({ name, address, clientId, used: name === used }));
      return wholeList("remotes", shown, { columns, id: ({ name }) => name });
    },
  }),
  use: makeOwnCommand({
    summary: "Let commands act on a remote service also without --remote; local: on the database again.",
    args: { name: argument.text() },
    run: async (tools, { args: { name } }) => {
      const before = await tools.remotes.read();
      const found = findRemote(before, name);
      await tools.remotes.write({ ...before, used: found?.name ?? null });
      const place = found === null ? "the database beside the program" : found.address;
      return done(`Commands act on ${place}.`, { used: found?.name ?? null, address: found?.address ?? null });
    },
  }),
  logout,
  show: makeOwnCommand({
    summary: "Show as whom you act on a remote service, and in which roles.",
    args: { name: argument.text() },
    run: async (tools, { args: { name } }) => {
      const found = findRemote(await tools.remotes.read(), name);
      if (found === null)
        throw new AppError("not_found", "remote_not_found", "The local database is not a remote service.");
      const api = connectRemote(found, tools.tell);
      const me = await bodyOf(api.GET("/admin/v1/me"));
      const lines = me.roles.map(({ role, schoolIds, clientIds }) => [role, ...schoolIds, ...clientIds].join(" "));
      const { address, clientId } = found;
      return {
        lines: [`${clientId} at ${address}: ${me.roles.length === 0 ? "no role" : "roles"}`, ...lines],
        data: { remote: found.name, address, ...me },
      };
    },
  }),
};
