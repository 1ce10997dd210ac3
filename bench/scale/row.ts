import type { Cost } from "../monday/cost.ts";
import { keycloakDatabase, type Kind } from "./kinds.ts";
import type { ProxyCost } from "./proxy.ts";

export const head = [
  "What",
  "CPU",
  "A second and processor",
  "The same with TLS",
  "Keycloak",
  "Database processors for 100 a second",
  "WAL for 100 a second",
  "Syncs for 100 a second",
  "Requests",
];

const worse = (text: string): string => `**${text}, worse**`;

/**
 * A row of the table. With TLS a proxy on the same processor takes each request, and each sign-on or call of an app
 * comes over a new connection, as in Keycloak's figures.
 */
export function cellsOf(kind: Kind, cost: Cost, proxy: ProxyCost | null): string[] {
  const { cpuMs, databaseMs, walBytes, walSyncs, requests, count, failed } = cost;
  const perSecond = 1000 / cpuMs;
  const tls =
    kind.caller === "outside" && proxy !== null ? cpuMs + proxy.connectionMs + requests * proxy.requestMs : null;
  const withTls = tls === null ? null : 1000 / tls;
  const processors = databaseMs / 10;
  const ofDatabase = (text: string, isWorse = false) =>
    kind.caller === "none" ? "" : kind.isWrite && isWorse ? worse(text) : text;
  return [
    `${kind.what}${failed > 0 ? ` (${failed} of ${count + failed} failed)` : ""}`,
    `${cpuMs.toFixed(cpuMs < 10 ? 2 : 1)} ms`,
    perSecond.toFixed(0),
    withTls === null ? "" : withTls.toFixed(0),
    kind.keycloak === undefined ? "" : compare(withTls ?? perSecond, kind.keycloak),
    ofDatabase(processors.toFixed(2), processors > keycloakDatabase.mostProcessors),
    ofDatabase(`${((walBytes * 100) / 1e6).toFixed(2)} MB`),
    ofDatabase((walSyncs * 100).toFixed(0), walSyncs * 100 > keycloakDatabase.writes),
    kind.caller === "outside" ? requests.toFixed(0) : "",
  ];
}

function compare(ours: number, theirs: number): string {
  const text = `${theirs}; ours is ${(ours / theirs).toFixed(1)} times`;
  return ours < theirs ? worse(text) : text;
}
