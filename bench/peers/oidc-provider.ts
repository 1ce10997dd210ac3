import { openSessions } from "../sign-on.ts";
import { peerApp, type Peer, type Place, type Start, startModule } from "./peer.ts";

async function start(name: string, module: string, { databaseUrl, people }: Place): Promise<Peer> {
  const subject = await startModule(name, module, { DATABASE_URL: databaseUrl });
  const logins = Array.from({ length: people }, () => ({ username: "", password: "" }));
  const sides = await openSessions(subject.url, peerApp, logins);
  return { ...subject, sides, machine: { url: subject.url, app: peerApp } };
}

export const startInMemory: Start = (place) =>
  start("oidc-provider in memory", new URL("../subjects/oidc-memory.ts", import.meta.url).href, place);

export const startOnPostgres: Start = (place) =>
  start("oidc-provider on PostgreSQL", new URL("oidc-postgres.ts", import.meta.url).href, place);
