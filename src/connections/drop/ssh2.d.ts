/** What is used of ssh2, which comes without types; test/support/ssh2-client.d.ts has what tests use besides. */
declare module "ssh2" {
  import type { EventEmitter } from "node:events";
  import type { Duplex } from "node:stream";

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

  export interface Utils {
    parseKey(text: string): ParsedKey | Error;
  }
  export interface Library {
    Server: typeof Server;
    utils: Utils;
  }
  const ssh2: Library;
  export default ssh2;
  export { AuthContext, Connection, SftpServer };
}
