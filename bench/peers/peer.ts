import { spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import type { ClientId } from "../../src/access/index.ts";
import { until } from "../../deploy/postgres/processes.ts";
import type { TestApp } from "../../test/support/token.ts";
import { childrenOf, cpuSeconds } from "../cores/cpu-time.ts";
import { type Subject, startSubject } from "../harness.ts";
import type { Side } from "../sign-on.ts";

/**
 * A provider that is measured.
 *
 * Shape: one of `sides` for each person with a session; `machine` is the client of client credentials.
 */
export type Peer = Pick<Subject, "cpuMs" | "stop"> & { sides: Side[]; machine: Omit<Side, "cookies"> };

/** What each provider starts on: an empty database and an empty folder of its own. */
export type Place = { databaseUrl: string; folder: string; people: number };

/** How a provider starts. Errors: `Missing` where it is not installed. */
export type Start = (place: Place) => Promise<Peer>;

export class Missing extends Error {}

export const scope = "urn:schultor:idm:v1:schools:read";

export const peerApp: TestApp = {
  clientId: "bench" as ClientId,
  clientSecret: "bench-secret",
  redirectUri: "http://127.0.0.1:4000/callback",
};

export const peerPassword = "bench-password";

export const makeKey = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });

/** Starts a module of Node in production mode, as `startSubject`. */
export const startModule = (name: string, module: string, env: Record<string, string>): Promise<Subject> =>
  startSubject(name, module, { ...env, NODE_ENV: "production" });

type Program = { program: string; args: string[]; env?: Record<string, string>; cwd: string; url: string };

/**
 * Starts a program that listens at an address, with the processes that it starts itself.
 *
 * Errors: rejects when the program ends before it answers, or does not answer within a minute.
 */
export async function startProgram(started: Program): Promise<Pick<Subject, "cpuMs" | "stop">> {
  const { program, args, env, cwd, url } = started;
  const child: ChildProcess = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const pid = child.pid!;
  // Also when the measurement fails before it stops its programs.
  process.once("exit", () => child.kill());
  await until(`${program} answers`, 60, () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with exit ${child.exitCode}`);
    return fetch(url).then(
      () => true,
      () => false,
    );
  });
  return {
    cpuMs: () => cpuSeconds([pid, ...childrenOf(pid)]) * 1000,
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The cookies of an answer, as a browser sends them. */
export const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0]!)
    .join("; ");
