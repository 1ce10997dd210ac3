import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { AuthContext, Connection } from "ssh2";
import type { Log } from "../../platform/telemetry/log.ts";
import { readPublicKeys } from "../sources/sftp.ts";
import { serveUploads, type DroppedFile } from "./session.ts";
import { createECDH, createPrivateKey, createPublicKey, hash } from "node:crypto";

/** What is behind the server: connections that take files. */
export type DropDoor = {
  /** The public keys of a user name; null if nobody has it. */
  findKeys(userName: string): Promise<string | null>;
  /** Removes the file when it is read. False: it was not taken. */
  take(userName: string, file: DroppedFile): Promise<boolean>;
  /** False if an address has failed too often; a try that signs in is given back. */
  beginTry(address: string): Promise<boolean>;
  giveBackTry(address: string): Promise<void>;
};

/** `fingerprint`: of the host key, as clients show it. */
export type DropServer = { port: number; fingerprint: string; stop(): Promise<void> };

const most = { connections: 50, ofAddress: 10, keysTried: 10 };
const seconds = { signIn: 20, silence: 120, session: 3600 };

const algorithms = {
  kex: ["curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256", "ecdh-sha2-nistp384"],
  serverHostKey: ["ecdsa-sha2-nistp256"],
  cipher: ["aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes256-ctr"],
  hmac: ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512"],
  compress: ["none"],
} as const;

/** Takes files over SFTP, and offers nothing else: no shell, no commands, no forwarding, no passwords. */
export async function openDropServer(
  { host, port, secret, mostBytes, log }: { host: string; port: number; secret: Buffer; mostBytes: number; log: Log },
  door: DropDoor,
): Promise<DropServer> {
  // Loaded only where the port is set.
  const { default: ssh2 } = await import("ssh2");
  const hostKey = ssh2.utils.parseKey(makeHostKey(secret));
  if (hostKey instanceof Error) throw hostKey;
  const sockets = new Map<string, Socket>();
  const ssh = new ssh2.Server({
    hostKeys: [hostKey.getPrivatePEM()],
    ident: "schultor",
    algorithms,
  });
  ssh.on("connection", (client, { ip, port: from }) => {
    const socket = sockets.get(`${ip} ${from}`);
    if (socket === undefined) client.end();
    else serve(client, { socket, door, mostBytes, log, verify, clean });
  });
  const cleaning = new Set<Promise<void>>();
  const clean = (work: () => Promise<void>): void => {
    const done = work()
      .catch((err: unknown) => log.error({ err }, "a file of SFTP could not be removed"))
      .finally(() => cleaning.delete(done));
    cleaning.add(done);
  };
  const verify: Verify = ({ type, blob }, { blob: signed, signature, hashAlgo }) => {
    const key = ssh2.utils.parseKey(`${type} ${blob.toString("base64")}`);
    // RSA without a hash is SHA-1.
    if (key instanceof Error || (type === "ssh-rsa" && !["sha256", "sha512"].includes(hashAlgo ?? ""))) return false;
    return key.verify(signed!, signature!, hashAlgo) === true;
  };

  const admit = async (socket: Socket): Promise<void> => {
    const { remoteAddress = "", remotePort = 0 } = socket;
    const name = `${remoteAddress} ${remotePort}`;
    const ofAddress = [...sockets.keys()].filter((one) => one.startsWith(`${remoteAddress} `)).length;
    if (sockets.size >= most.connections || ofAddress >= most.ofAddress) return void socket.destroy();
    sockets.set(name, socket);
    socket.on("close", () => sockets.delete(name));
    socket.setNoDelay();
    socket.setTimeout(seconds.silence * 1000, () => socket.destroy());
    if (await door.beginTry(remoteAddress)) ssh.injectSocket(socket);
    else socket.destroy();
  };
  const listener = createServer((socket) => {
    socket.on("error", () => undefined);
    admit(socket).catch((err: unknown) => {
      log.error({ err }, "a connection over SFTP could not be admitted");
      socket.destroy();
    });
  });
  listener.listen({ port, ...(host !== "::" && { host }) });
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    fingerprint: fingerprintOf(hostKey.getPrivatePEM()),
    async stop() {
      const open = [...sockets.values()];
      const closed = Promise.all([listener, ...open].map((one) => once(one, "close")));
      listener.close();
      for (const socket of open) socket.destroy();
      await closed;
      await Promise.all(cleaning);
    },
  };
}

type Verify = (key: { type: string; blob: Buffer }, auth: AuthContext) => boolean;
type Serving = {
  socket: Socket;
  door: DropDoor;
  mostBytes: number;
  log: Log;
  verify: Verify;
  clean(work: () => Promise<void>): void;
};

function serve(client: Connection, { socket, door, mostBytes, log, verify, clean }: Serving): void {
  let tries = 0;
  let signedIn: { userName: string; blob: Buffer } | null = null;
  const findKey = async (userName: string, blob: Buffer) =>
    readPublicKeys((await door.findKeys(userName)) ?? "")?.find((key) => key.blob.equals(blob));
  const authenticate = async (auth: AuthContext): Promise<void> => {
    if (auth.method !== "publickey") return auth.reject(["publickey"]);
    if (++tries > most.keysTried) return void socket.destroy();
    const {
      username: userName,
      key: { data: blob },
    } = auth;
    const key = await findKey(userName, blob);
    // Without a signature, the client only asks whether it may use the key.
    if (key === undefined || (auth.signature && !verify(key, auth))) return auth.reject(["publickey"]);
    if (auth.signature) signedIn = { userName, blob };
    auth.accept();
  };
  const late = setTimeout(() => socket.destroy(), seconds.signIn * 1000).unref();
  client.on("authentication", (auth) => {
    authenticate(auth).catch((err: unknown) => {
      log.error({ err }, "a key of SFTP could not be checked");
      auth.reject();
    });
  });
  client.on("ready", () => {
    clearTimeout(late);
    const end = setTimeout(() => socket.destroy(), seconds.session * 1000).unref();
    socket.on("close", () => clearTimeout(end));
    void door.giveBackTry(socket.remoteAddress ?? "").catch((err: unknown) => log.error({ err }, "SFTP"));
  });
  client.once("session", (accept) => {
    accept().once("sftp", (acceptSftp) => {
      const { userName, blob } = signedIn!;
      const discard = serveUploads(acceptSftp(), {
        isAllowed: async () => (await findKey(userName, blob)) !== undefined,
        take: (file) => door.take(userName, file),
        pause: () => socket.pause(),
        resume: () => socket.resume(),
        end: () => client.end(),
        mostBytes,
        log,
      });
      socket.on("close", () => clean(discard));
    });
  });
  client.on("error", (err) => log.debug({ err }, "a connection over SFTP ended"));
  socket.on("close", () => clearTimeout(late));
}

/** The host key (P-256) that a secret of 32 bytes makes, so that all processes have the same one. */
export function makeHostKey(secret: Buffer): string {
  const d = Buffer.from(secret);
  // Below the order of the curve.
  d[0]! &= 0x7f;
  const curve = createECDH("prime256v1");
  curve.setPrivateKey(d);
  const point = curve.getPublicKey().subarray(1);
  const [x, y] = [point.subarray(0, 32), point.subarray(32)].map((part) => part.toString("base64url"));
  const key = { kty: "EC", crv: "P-256", d: d.toString("base64url"), x: x!, y: y! };
  return createPrivateKey({ key, format: "jwk" }).export({ type: "sec1", format: "pem" }).toString();
}

/** The fingerprint of a host key, as clients show it. Source: RFC 4253 section 6.6, RFC 5656 section 3.1. */
export function fingerprintOf(hostKey: string): string {
  const { x = "", y = "" } = createPublicKey(hostKey).export({ format: "jwk" });
  const point = [Buffer.from([4]), ...[x, y].map((part) => Buffer.from(part, "base64url"))];
  const fields = [Buffer.from("ecdsa-sha2-nistp256"), Buffer.from("nistp256"), Buffer.concat(point)].map((field) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(field.length);
    return Buffer.concat([length, field]);
  });
  return `SHA256:${hash("sha256", Buffer.concat(fields), "base64").replace(/=+$/, "")}`;
}
