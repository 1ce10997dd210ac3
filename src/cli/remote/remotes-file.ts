import { chmod, mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../platform/errors.ts";
import type { Credentials, Login } from "./token.ts";

/** A service to which an app is logged in with its secret, or a person with a refresh token. */
export type KnownRemote = { name: string; address: string; clientId: string } & (
  { clientSecret: string } | { refreshToken: string; person?: string }
);

/** The remote services that the user has logged in to; `used` is the name of the one that commands act on. */
export type Remotes = { used: string | null; known: readonly KnownRemote[] };

/** Makes the command end as for a wrong configuration. */
class RemotesFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

export type RemotesFile = {
  /** Errors: ends the command where others may read the file. */
  read(): Promise<Remotes>;
  write(remotes: Remotes): Promise<void>;
};

const none: Remotes = { used: null, known: [] };
const forOthers = 0o077;

/** What `remote` logs in with; a refresh token is replaced in the file when it is used. */
export function credentialsOf(remote: KnownRemote, file: RemotesFile): Credentials {
  const { name, address, clientId } = remote;
  if ("clientSecret" in remote) return { address, clientId, clientSecret: remote.clientSecret };
  const keep = async (login: Login): Promise<void> => {
    const { used, known } = await file.read();
    await file.write({ used, known: known.map((one) => (one.name === name ? { ...one, ...login } : one)) });
  };
  return { address, clientId, login: remote, person: remote.person ?? "the person who logged in", keep };
}

/** The file remotes.json in the user's own configuration, which nobody else can read. */
export function makeRemotesFile(configFolder: string | undefined): RemotesFile {
  const folder = configFolder === undefined ? undefined : join(configFolder, "schultor");
  const path = folder === undefined ? undefined : join(folder, "remotes.json");
  return {
    async read() {
      if (folder === undefined || path === undefined) return none;
      const text = await readFile(path, "utf8").catch((error: unknown) => {
        if (/^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? "")) return null;
        throw error;
      });
      if (text === null) return none;
      await refuseForOthers(folder, "700");
      await refuseForOthers(path, "600");
      return parse(text, path);
    },
    async write(remotes) {
      if (folder === undefined || path === undefined)
        throw new RemotesFileError("Set HOME or XDG_CONFIG_HOME: the secret is kept in a file there.");
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
      const fresh = `${path}.${process.pid}`;
      const file = await open(fresh, "w", 0o600);
      await file.chmod(0o600);
      await file.writeFile(`${JSON.stringify(remotes, null, 2)}\n`).finally(() => file.close());
      await rename(fresh, path);
    },
  };
}

async function refuseForOthers(path: string, mode: string): Promise<void> {
  const { mode: permissions, uid } = await stat(path);
  if ((permissions & forOthers) === 0 && uid === process.getuid?.()) return;
  throw new RemotesFileError(
    `${path} contains secrets, and other users can read it. Run: chmod ${mode} ${path}. Others may have read the secrets.`,
  );
}

function parse(text: string, path: string): Remotes {
  try {
    const { used, known } = JSON.parse(text) as Partial<Remotes>;
    if (Array.isArray(known)) return { used: used ?? null, known };
  } catch {
    // Said below, as for every other content.
  }
  throw new RemotesFileError(`${path} is damaged. Delete it and log in again: schultor remote login <address>`);
}

/** What stands for the database beside the program wherever a remote is named. */
export const localName = "local";

/** The remote with this name or address, else that of `remote use`; null: the local database. Errors: not_found. */
export function findRemote({ used, known }: Remotes, named: string | undefined): KnownRemote | null {
  const wanted = named ?? used;
  if (wanted === null || wanted === localName) return null;
  const address = wanted.replace(/\/+$/, "");
  const match = known.find((remote) => remote.name === wanted || remote.address === address);
  if (match !== undefined) return match;
  const login = `schultor remote login ${/^https?:/.test(wanted) ? wanted : "<address>"}`;
  throw new AppError(
    "not_found",
    "remote_not_found",
    `You are not logged in to a remote service '${wanted}'. Log in with: ${login}`,
  );
}
