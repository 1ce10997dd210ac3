import { setTimeout as sleep } from "node:timers/promises";
import { findAuthenticationFault, type Authentication } from "./authentication.ts";
import { failed, passed, skipped, verdictOf, type Verdict } from "./checks.ts";
import { folders, type Page, type Reading, type RosterApi } from "./roster-api.ts";

type Settings = {
  api: RosterApi;
  clientId: string;
  issuer: { url: string };
  authentication: Authentication;
  /** Returns false if the app does not begin. */
  waitForReading(): Promise<boolean>;
  tell(line: string): void;
};

/** Lets the app read the roster twice; before the second time a pupil is deleted. */
export async function checkOneRoster(settings: Settings): Promise<Verdict[]> {
  const { api, waitForReading, tell, issuer } = settings;
  tell(
    `Let the app read the roster now, from ${Object.values(folders)
      .map((folder) => issuer.url + folder)
      .join(" or ")}`,
  );
  const isRead = await waitForReading();
  const first = api.reading();
  const fault = isRead ? await findTokenFault(settings, first) : "The app did not begin to read.";
  if (first.pages.length === 0) {
    const { requestFault } = first;
    const why = "No list was read.";
    return [
      verdictOf("oneroster-token", fault ?? (requestFault === null ? why : null)),
      requestFault === null ? skipped("oneroster-requests", why) : failed("oneroster-requests", requestFault),
      ...(["oneroster-busy", "oneroster-pages", "oneroster-deletion"] as const).map((id) => skipped(id, why)),
    ];
  }
  api.deletePupil();
  tell("A pupil was deleted. Let the app read the roster again");
  const isReadAgain = await waitForReading();
  const second = api.reading();
  return [
    verdictOf("oneroster-token", fault),
    verdictOf("oneroster-requests", first.requestFault ?? second.requestFault),
    checkBusy(first),
    checkPages(first),
    isReadAgain ? checkDeletion(second) : skipped("oneroster-deletion", "The app did not read a second time."),
  ];
}

/** A token that is refused and replaced, as one of an earlier check, is no fault. */
async function findTokenFault({ api, ...registered }: Settings, first: Reading): Promise<string | null> {
  const [request, next = null] = api.tokenRequests;
  const fault = request === undefined ? null : await findAuthenticationFault(registered, request, next);
  return fault ?? (first.pages.length === 0 ? first.tokenFault : null);
}

function checkBusy({ busy }: Reading): Verdict {
  if (busy === null) return skipped("oneroster-busy", "The app read one page only.");
  return verdictOf("oneroster-busy", busy.isRepeated ? null : `${busy.address} got 503, and was not repeated.`);
}

function checkPages({ pages, busy }: Reading): Verdict {
  const id = "oneroster-pages";
  if (busy?.isRepeated === false) return skipped(id, "The app stopped at the page that got 503.");
  // A page of one record looks whether there is any.
  const lists = Object.entries(Object.groupBy(pages, ({ list }) => list)) as [string, Page[]][];
  const read = lists.filter(([, ofList]) => ofList.some(({ limit }) => limit > 1));
  for (const [list, ofList] of read) {
    const [{ total }, end] = [ofList[0]!, findEnd(ofList)];
    if (end < total) return failed(id, `Of ${total} records of ${list}, the first ${end} were read without a gap.`);
  }
  return pages.some(({ offset }) => offset > 0) ? passed(id) : skipped(id, "Each list that was read fits on a page.");
}

/** How many records were read before the first one that was not. */
const findEnd = (pages: readonly Page[]): number =>
  [...pages]
    .sort((a, b) => a.offset - b.offset)
    .reduce((end, { offset, limit }) => (offset <= end ? Math.max(end, offset + limit) : end), 0);

function checkDeletion({ pages, hasDeletion }: Reading): Verdict {
  const lists = [...new Set(pages.map(({ list }) => list))].filter((list) => /\/(users|students)(\?|$)/.test(list));
  const id = "oneroster-deletion";
  if (lists.length === 0 && !hasDeletion) return failed(id, "The second time the app read no list of people.");
  const isWhole = lists.some((list) => !/dateLastModified/i.test(list));
  return verdictOf(
    id,
    hasDeletion || isWhole ? null : `It is in none of the lists that were read: ${lists.join(", ")}.`,
  );
}

type Patience = { patienceMs: number; quietMs?: number };

/** Waits until the app has begun to read and then sent nothing for some time; for each no longer than `patienceMs`. */
export async function waitForReading(api: RosterApi, { patienceMs, quietMs = 10_000 }: Patience): Promise<boolean> {
  for (const end = Date.now() + patienceMs; api.reading().lastAt === null; await sleep(50))
    if (Date.now() >= end) return false;
  const end = Date.now() + patienceMs;
  while (Date.now() < Math.min(end, api.reading().lastAt! + quietMs)) await sleep(50);
  return true;
}
