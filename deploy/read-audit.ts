import type { Advisory } from "./advisories.ts";

type Via = { name: string; title: string; url: string; severity: Advisory["severity"]; range: string };
type Audit = { message?: string; vulnerabilities?: Record<string, { via: (Via | string)[] }> };

/** Reads what `npm audit --json` printed; a registry without audits answers a message instead. */
export function readAudit(printed: string): { advisories: Advisory[] } | { failure: string } {
  let audit: Audit;
  try {
    audit = JSON.parse(printed) as Audit;
  } catch {
    return { failure: "npm printed no JSON" };
  }
  if (audit.vulnerabilities === undefined) return { failure: audit.message ?? "npm printed no advisories" };
  // A text names another package of the list, through which this one is hit.
  const given = Object.values(audit.vulnerabilities)
    .flatMap(({ via }) => via)
    .filter((via) => typeof via !== "string");
  return {
    advisories: given.map(({ name, title, url, severity, range }) => ({
      id: url.split("/").at(-1)!,
      package: name,
      range,
      severity,
      title,
      source: url,
    })),
  };
}
