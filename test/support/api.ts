import { loadDemoWorld } from "../../demo/load.ts";
import world from "../../demo/demo.json" with { type: "json" };
import type { ClientId, ScopeName } from "../../src/access/index.ts";
import { setPasswordHash } from "../../src/accounts/index.ts";
import { hashQuickly } from "./quick-hash.ts";
import { startService, type TestService } from "./service.ts";
import { issueAppToken, type TestApp } from "./token.ts";

export const idmScopes: readonly ScopeName[] = ["schools:read", "users:read", "groups:read", "people:read"];

/** A read as an app makes it: status, headers and the body, parsed. */
export type Read = { status: number; headers: Headers; body: unknown };

export type Reader = (path: string, headers?: Record<string, string>) => Promise<Read>;

export function makeReader({ url }: { url: string }, token: string): Reader {
  return async (path, headers = {}) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}`, ...headers } });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : (JSON.parse(text) as unknown),
    };
  };
}

export const getReader = async (service: TestService, app: TestApp, scopes = idmScopes): Promise<Reader> =>
  makeReader(service, await issueAppToken(service, app, scopes));

export const idm = "/idm/ep/v1";
export const schulconnex = "/idm/schulconnex/v1";

/** The whole service with the demo world in it. */
export async function startDemo(wishes: Parameters<typeof startService>[0] = {}): Promise<TestService> {
  const service = await startService(wishes);
  await loadDemoWorld(service.db, {
    now: service.clock(),
    production: false,
    restoreWindowDays: 30,
    hashPassword: hashQuickly,
    setPasswordHash,
  });
  return service;
}

export function demoApp(clientId: string): TestApp {
  const app = world.apps.find((known) => known.clientId === clientId)!;
  return { clientId: app.clientId as ClientId, clientSecret: app.clientSecret, redirectUri: app.redirectUris[0]! };
}

export function demoLogin(person: number): { username: string; password: string } {
  const { username, password } = world.people[person - 1]!;
  return { username, password };
}
