import type { PageRequest } from "../frame/index.ts";

/** Something that waits at a school: how much, and the page there that shows it. */
export type Waiting = { key: string; count: number; href: string };

/** What waits at each of these schools, with the numbers of their page "Today". */
export async function listWaiting(
  { call, permissions }: PageRequest,
  schoolIds: readonly string[],
): Promise<ReadonlyMap<string, Waiting[]>> {
  const found = new Map<string, Waiting[]>();
  // One after another: this page is not urgent, and each of them reads much.
  for (const school of schoolIds) {
    const today = await call("getToday", { query: { school } });
    const { atSchools: at, schoolLogins: logins } = today;
    const mayAgree = permissions.may("acceptAgreement", school);
    const counts: [key: string, page: string, some: { count: number } | null | undefined][] = [
      ["waitingImports", "imports?waiting=yes", today.waitingImports],
      ["handovers", "handovers", at?.handovers],
      ["passwordRequests", "today", at?.passwordRequests],
      ["dataRequests", "privacy/requests", at?.dataRequests],
      ["retentionHolds", "retention", at?.retentionHolds],
      ["openAgreements", "today", mayAgree ? at?.openAgreements : null],
      ["failingLogins", "own-login", logins?.failing],
      ["expiringSecrets", "own-login", logins?.expiringSecrets],
    ];
    const waiting = counts.flatMap(([key, page, some]) =>
      some && some.count > 0 ? [{ key, count: some.count, href: `/admin/schools/${school}/${page}` }] : [],
    );
    found.set(school, waiting);
  }
  return found;
}
