import { readFile } from "node:fs/promises";
import { commandLineClientId } from "../access/token.ts";
import { AppError } from "../platform/errors.ts";
import { bodyOf } from "./admin-api.ts";
import { makeOwnCommand, type OwnTools } from "./command.ts";
import { done, fullName } from "./lines.ts";
import { argument, option, UsageError } from "./option.ts";
import { readAddress } from "./remote/discovery.ts";
import { findRemote, localName, type KnownRemote, type Remotes } from "./remote/remotes-file.ts";
import { actorOf, revoke, type Credentials } from "./remote/token.ts";

const nameShape = /^[a-z0-9][a-z0-9.:_-]*$/i;

function checkName(name: string): string {
  if (nameShape.test(name) && name !== localName) return name;
  throw new UsageError(
    `--name: '${name}' is not a valid name. Use letters, digits, dots and hyphens; 'local' is reserved.`,
  );
}

/** The secret of an app: from a file, the environment or the person at the terminal. */
export async function readSecret({ clientSecret, askSecret }: OwnTools, file: string | undefined): Promise<string> {
  const secret =
    file !== undefined
      ? (await readFile(file, "utf8")).trim()
      : (clientSecret ?? (await askSecret?.("Client secret (not shown): "))?.trim());
  if (secret) return secret;
  throw new UsageError("The secret is missing: set SCHULTOR_CLIENT_SECRET, or give --secret-file <path>.");
}

type Wanted = { clientId: string | undefined; secretFile: string | undefined; noBrowser: boolean | undefined };

/** Who logs in: an app with its secret, or the person in the browser. */
async function readCredentials(tools: OwnTools, address: string, wanted: Wanted): Promise<Credentials> {
  const { clientId, secretFile, noBrowser } = wanted;
  if (clientId !== undefined) return { address, clientId, clientSecret: await readSecret(tools, secretFile) };
  if (secretFile !== undefined) throw new UsageError("--secret-file goes with --client-id.");
  const { logInWithBrowser } = await import("./remote/browser-login.ts");
  const { makeFetch } = await import("./remote/connect.ts");
  const { tell, ask } = tools;
  const login = await logInWithBrowser(address, makeFetch(tell), { tell, ask, opensBrowser: noBrowser !== true });
  // What getMe renews is stored with the rest.
  return { address, clientId: commandLineClientId, login, person: "", keep: async () => undefined };
}

function rememberRemote({ used, known }: Remotes, name: string, credentials: Credentials): Remotes {
  const { address, clientId } = credentials;
  const others = known.filter((one) => one.name !== name && one.address !== address);
  const secret =
    "login" in credentials
      ? { ...credentials.login, person: credentials.person }
      : { clientSecret: credentials.clientSecret };
  const added: KnownRemote = Object.assign({ name, address, clientId }, secret);
  return { used, known: [...others, added] };
}

export const login = makeOwnCommand({
  summary:
    "Log in to a service with your browser, in the roles that you have there; with --client-id as an app that holds a role, whose secret is asked for or taken from SCHULTOR_CLIENT_SECRET. The login is kept in a file of yours alone.",
  args: { address: argument.text() },
  options: {
    clientId: option.text("The client id of an app.", "client-id"),
    secretFile: option.text("A file with its secret; /dev/stdin for what is piped.", "path"),
    noBrowser: option.flag("Only print the address for the browser."),
    name: option.text("What to call the service here; its host if left out.", "name"),
  },
  run: async (tools, { args, options: { name, ...wanted } }) => {
    const address = readAddress(args.address);
    const called = checkName(name ?? new URL(address).host);
    const credentials = await readCredentials(tools, address, wanted);
    const { connectRemote } = await import("./remote/connect.ts");
    const me = await bodyOf(connectRemote(credentials, tools.tell).GET("/admin/v1/me"));
    if ("login" in credentials) credentials.person = fullName(me.name);
    await tools.remotes.write(rememberRemote(await tools.remotes.read(), called, credentials));
    const held = me.roles.map(({ role }) => role);
    const line = `Logged in to ${address} as ${actorOf(credentials)}, with ${held.length === 0 ? "no role yet" : held.join(", ")}.`;
    const next = `Commands act on it with --remote ${called}, with SCHULTOR_REMOTE=${called}, or all after: schultor remote use ${called}`;
    const data = { name: called, address, clientId: credentials.clientId, roles: held };
    return { ...done(line, data), lines: tools.isForPartners ? [line] : [line, next] };
  },
});

export const logout = makeOwnCommand({
  summary:
    "End the login at a remote service, and forget it; the one that is used, or the only one, if --name is left out.",
  options: { name: option.text("Its name or address.", "name|address") },
  run: async ({ remotes, tell }, { options: { name } }) => {
    const { used, known } = await remotes.read();
    const wanted = name ?? used ?? (known.length === 1 ? known[0]!.name : undefined);
    const target = wanted === undefined ? null : findRemote({ used, known }, wanted);
    if (target === null)
      throw new AppError("not_found", "remote_not_found", "Which remote service? Give its name: --name <name>.");
    const left = known.filter((remote) => remote.name !== target.name);
    await remotes.write({ used: used === target.name ? null : used, known: left });
    const { name: called, address } = target;
    if (!("refreshToken" in target))
      return done(`Logged out of ${address}. Its secret is no longer kept here.`, { name: called, address });
    const { makeFetch } = await import("./remote/connect.ts");
    await revoke(address, target.refreshToken, makeFetch(tell));
    return done(`Logged out of ${address}.`, { name: called, address });
  },
});
