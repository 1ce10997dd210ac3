/** The client of ssh2, beside the server of src/connections/drop/ssh2.d.ts. */
declare module "ssh2" {
  import type { EventEmitter } from "node:events";
  import type { Writable } from "node:stream";

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

  export interface Utils {
    generateKeyPairSync(type: "ed25519" | "rsa", options?: { bits: number }): { private: string; public: string };
  }
  export interface Library {
    Client: typeof Client;
  }
  export { Client, SftpClient };
}
