/** What is used of ssh2, which comes without types: the server, and the client in tests. */
declare module "ssh2" {
  import type { EventEmitter } from "node:events";
  import type { Duplex, Writable } from "node:stream";

  type Algorithms = Partial<Record<"kex" | "serverHostKey" | "cipher" | "hmac" | "compress", readonly string[]>>;
  type Attributes = { mode: number; uid: number; gid: number; size: number; atime: number; mtime: number };

  class Server extends EventEmitter {
    constructor(config: { hostKeys: string[]; ident: string; algorithms: Algorithms });
    injectSocket(socket: Duplex): void;
    on(event: "connection", listener: (client: Connection, info: { ip: string; port: number }) => void): this;
  }
  interface Connection extends EventEmitter {
    on(event: "authentication", listener: (auth: AuthContext) => void): this;
    on(event: "ready", listener: () => void): this;
    on(event: "error", listener: (error: Error) => void): this;
    once(event: "session", listener: (accept: () => Session) => void): this;
    end(): this;
  }
  interface Session extends EventEmitter {
    once(event: "sftp", listener: (accept: () => SftpServer) => void): this;
  }
  interface AuthContext {
    method: string;
    username: string;
    /** Set for the method publickey. Without a signature, the client asks whether it may use the key. */
    key: { algo: string; data: Buffer };
    blob?: Buffer;
    signature?: Buffer;
    hashAlgo?: string;
    accept(): void;
    reject(methods?: string[]): void;
  }
  interface SftpServer extends EventEmitter {
    on(event: "OPEN", listener: (id: number, path: string, flags: number) => void): this;
    on(event: "WRITE", listener: (id: number, handle: Buffer, offset: number, data: Buffer) => void): this;
    on(event: "CLOSE", listener: (id: number, handle: Buffer) => void): this;
    on(event: "RENAME", listener: (id: number, from: string, to: string) => void): this;
    on(event: "OPENDIR" | "REALPATH" | "STAT" | "LSTAT", listener: (id: number, path: string) => void): this;
    on(event: string, listener: (id: number) => void): this;
    status(id: number, code: number): void;
    end(): void;
    handle(id: number, handle: Buffer): void;
    attrs(id: number, attributes: Attributes): void;
    name(id: number, names: { filename: string; longname: string; attrs: Attributes }[]): void;
  }
  interface ParsedKey {
    getPrivatePEM(): string;
    verify(data: Buffer, signature: Buffer, hash?: string): boolean | Error;
  }

  type Done = (error: Error | undefined) => void;
  class Client extends EventEmitter {
    connect(config: {
      host: string;
      port: number;
      username?: string;
      privateKey?: string;
      password?: string;
      hostHash?: string;
      hostVerifier?: (hash: string) => boolean;
      algorithms?: Algorithms;
    }): this;
    setNoDelay(): this;
    end(): this;
    sftp(done: (error: Error | undefined, sftp: SftpClient) => void): this;
    shell(done: Done): this;
    exec(command: string, done: Done): this;
    subsys(name: string, done: Done): this;
    forwardIn(address: string, port: number, done: Done): this;
    forwardOut(from: string, fromPort: number, to: string, toPort: number, done: Done): this;
    openssh_forwardOutStreamLocal(path: string, done: Done): this;
  }
  interface SftpClient extends EventEmitter {
    createWriteStream(path: string): Writable;
  }

  const ssh2: {
    Server: typeof Server;
    Client: typeof Client;
    utils: {
      parseKey(text: string): ParsedKey | Error;
      generateKeyPairSync(type: "ed25519" | "rsa", options?: { bits: number }): { private: string; public: string };
    };
  };
  export default ssh2;
  export { AuthContext, Client, Connection, SftpClient, SftpServer };
}
