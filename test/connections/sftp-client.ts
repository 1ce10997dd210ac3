import { rm, readFile } from "node:fs/promises";
import ssh2, { type Client, type SftpClient } from "ssh2";
import { onTestFinished } from "vitest";
import { openDropServer, type DropDoor } from "../../src/connections/drop/server.ts";
import { makeLog } from "../../src/platform/telemetry/log.ts";

export function makeClientKey(type: "ed25519" | "rsa" = "ed25519", bits = 3072) {
  const pair =
    type === "rsa" ? ssh2.utils.generateKeyPairSync("rsa", { bits }) : ssh2.utils.generateKeyPairSync("ed25519");
  return { privateKey: pair.private, publicKey: pair.public };
}

/** A server whose door keeps files in memory: those of `users`, by name and public keys. */
export async function openDrop(users: Record<string, string>, door: Partial<DropDoor> & { mostBytes?: number } = {}) {
  const { mostBytes = 2 ** 20, ...rest } = door;
  const files: { userName: string; text: string; extension: string; size: number }[] = [];
  const tries = new Map<string, number>();
  const server = await openDropServer(
    {
      host: "127.0.0.1",
      port: 0,
      secret: Buffer.alloc(32, 7),
      mostBytes,
      log: makeLog({ level: "silent", format: "json" }),
    },
    {
      findKeys: async (userName) => users[userName] ?? null,
      async take(userName, { path, extension, size }) {
        files.push({ userName, text: await readFile(path, "utf8"), extension, size });
        await rm(path);
        return true;
      },
      beginTry: async (address) => tries.set(address, (tries.get(address) ?? 0) + 1) !== undefined,
      giveBackTry: async (address) => void tries.set(address, tries.get(address)! - 1),
      ...rest,
    },
  );
  onTestFinished(() => server.stop());
  return { ...server, files, users, tries };
}

type Connecting = Omit<Parameters<Client["connect"]>[0], "host">;

/** Errors: what the client says. */
export async function connect({ port, ...config }: Connecting): Promise<Client> {
  const client = new ssh2.Client();
  onTestFinished(() => void client.end());
  return new Promise((resolve, reject) => {
    client.on("ready", () => resolve(client.setNoDelay()));
    client.on("error", reject);
    client.on("close", () => reject(new Error("the server closed the connection")));
    client.connect({ host: "127.0.0.1", port, ...config });
  });
}

export const openSftp = (client: Client): Promise<SftpClient> =>
  new Promise((resolve, reject) => client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))));

/** Calls a method of the client, and returns its result, or the code of its failure. */
export const ask = <Result = unknown>(
  sftp: SftpClient,
  method: string,
  ...given: unknown[]
): Promise<Result | number | string> =>
  new Promise((resolve) => {
    const call = (sftp as unknown as Record<string, (...all: unknown[]) => void>)[method]!;
    call.call(sftp, ...given, (error: (Error & { code?: number }) | undefined, result: Result) =>
      resolve(error ? (error.code ?? error.message) : result),
    );
  });

export async function put(sftp: SftpClient, path: string, text: string | Buffer): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const stream = sftp.createWriteStream(path);
    stream.on("error", (error: Error & { code?: number }) => resolve(error.code ?? error.message));
    stream.on("close", () => resolve(undefined));
    stream.end(text);
  });
}
