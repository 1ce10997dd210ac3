import type { IncomingMessage, ServerResponse } from "node:http";
import type { TokenRequest } from "./issuer.ts";
import { readQuery, RosterRefusal } from "./roster-query.ts";
import { firstClassId, makeRecords, teacherId, type RosterRecord, type Version } from "./roster-records.ts";

/** A page that was returned; `list` is the address of the list, without the page. */
export type Page = { list: string; offset: number; limit: number; total: number };

/** What an app did while it read the roster once. */
export type Reading = {
  lastAt: number | null;
  pages: Page[];
  tokenFault: string | null;
  requestFault: string | null;
  /** The page that got 503 at first. */
  busy: { address: string; isRepeated: boolean } | null;
  /** Whether a response said that the deleted pupil is deleted. */
  hasDeletion: boolean;
};

export type RosterApi = {
  tokenRequests: TokenRequest[];
  noteToken(request: TokenRequest, accessToken: string): void;
  /** False for another address. */
  answer(req: IncomingMessage, res: ServerResponse): boolean;
  reading(): Reading;
  /** Deletes a pupil and begins another reading. */
  deletePupil(): void;
};

const root = "/ims/oneroster";
export const folders: Readonly<Record<Version, string>> = { v1p1: `${root}/v1p1`, v1p2: `${root}/rostering/v1p2` };

/** The property that holds one record of a list. */
const singular = {
  academicSessions: "academicSession",
  orgs: "org",
  courses: "course",
  classes: "class",
  users: "user",
  enrollments: "enrollment",
  demographics: null,
};
type Kind = keyof typeof singular;
type Subset = { kind: Kind; has: (record: RosterRecord) => boolean };

const subsets: ReadonlyMap<string, Subset> = new Map<string, Subset>([
  ["schools", { kind: "orgs", has: () => true }],
  ["terms", { kind: "academicSessions", has: ({ type }) => type === "term" }],
  ["gradingPeriods", { kind: "academicSessions", has: () => false }],
  ["students", { kind: "users", has: ({ sourcedId }) => sourcedId !== teacherId }],
  ["teachers", { kind: "users", has: ({ sourcedId }) => sourcedId === teacherId }],
]);
const subsetOf = (list: string): Subset | null =>
  subsets.get(list) ?? (Object.hasOwn(singular, list) ? { kind: list as Kind, has: () => true } : null);

const people = ["students", "teachers"];
/** The lists of a record, by where the record is. */
const listsBelow: ReadonlyMap<string, readonly string[]> = new Map([
  ["schools", ["classes", "courses", "enrollments", "terms", ...people]],
  ["schools/classes", ["enrollments", ...people]],
  ["classes", people],
  ["courses", ["classes"]],
  ["terms", ["classes", "gradingPeriods"]],
  ...["users", ...people].map((list): [string, string[]] => [list, ["classes"]]),
]);

/** Everything is of one school and one term, and everybody is in the first class. */
const isBelow = (list: string, id: string, { sourcedId, course, classType }: RosterRecord): boolean =>
  list === "courses"
    ? (course as RosterRecord)["sourcedId"] === id
    : (list !== "classes" || id === firstClassId) &&
      (classType === undefined || /schools|terms/.test(list) || sourcedId === firstClassId);

/** Without a scope an app gets its default permissions. */
const rosterScope = /(^| )https?:\/\/purl\.imsglobal\.org\/spec\/or\/v1p[12]\/scope\/roster(-core)?\.readonly( |$)/;
const minorCodes11: Readonly<Record<string, string>> = {
  unauthorisedrequest: "unauthorized",
  unknownobject: "unknown object",
  invaliddata: "invalid data",
};
const noRecord = "There is no such record for this app.";

function makeReading(): Reading {
  return { lastAt: null, pages: [], tokenFault: null, requestFault: null, busy: null, hasDeletion: false };
}

/** OneRoster 1.1 and 1.2 of an invented school with so many people that they do not fit on a page. */
export function makeRosterApi(): RosterApi {
  const scopes = new Map<string, string | null>();
  const tokenRequests: TokenRequest[] = [];
  const state = { pupils: 0, madeAt: new Date(Date.now() - 86_400_000), deletedAt: null as Date | null };
  let reading = makeReading();

  function checkToken({ headers }: IncomingMessage, request: string): void {
    const scope = scopes.get(/^bearer (.+)$/i.exec(headers.authorization ?? "")?.[1] ?? "");
    if (scope === undefined)
      throw new RosterRefusal(401, "unauthorisedrequest", `${request} had no token of the token endpoint.`);
    if (scope !== null && !rosterScope.test(scope))
      throw new RosterRefusal(403, "forbidden", `The token of ${request} was requested with the scope ${scope}.`);
  }

  /** Returns a page of a list, or a record. */
  function read(url: URL, version: Version, res: ServerResponse): object {
    const { origin, pathname, searchParams, search } = url;
    const parts = pathname.slice(folders[version].length + 1).split("/");
    const [names, ids] = [0, 1].map((odd) => parts.filter((_, at) => at % 2 === odd)) as [string[], string[]];
    const [name, isList] = [names.at(-1)!, names.length > ids.length];
    const subset = subsetOf(name);
    const isKnown = isList
      ? names.length === 1 || listsBelow.get(names.slice(0, -1).join("/"))?.includes(name)
      : names.length === 1 && !["gradingPeriods", "demographics"].includes(name);
    if (subset === null || !isKnown)
      throw new RosterRefusal(404, "unknownobject", `${pathname} is no address of the contract.`);
    const { kind, has } = subset;
    const recordsOf = (of: Kind, pupils = state.pupils) =>
      makeRecords({ ...state, pupils }, version, origin + folders[version])[of]();
    const base = { sourcedId: "", status: "", dateLastModified: "" };
    const { limit, offset, holds, select } = readQuery(searchParams, [base, ...recordsOf(kind, 1)]);
    if (isList && /^(users|enrollments)$/.test(kind)) state.pupils ||= Math.max(200, 2 * limit);
    const named = ids.map((id, at) => {
      const of = subsetOf(names[at]!)!;
      return recordsOf(of.kind).find((one) => one["sourcedId"] === id && of.has(one));
    });
    if (named.includes(undefined)) throw new RosterRefusal(404, "unknownobject", noRecord);
    if (!isList) return { [singular[kind]!]: noteRecord(kind, select(named[0]!)) };
    if (isBusyAt(pathname + search)) {
      res.setHeader("Retry-After", "1");
      throw new RosterRefusal(503, "server_busy", "The service is busy.");
    }
    const isWanted = (one: RosterRecord) =>
      has(one) && holds(one) && ids.every((id, at) => isBelow(names[at]!, id, one));
    const all = recordsOf(kind).filter(isWanted);
    reading.pages.push({ list: addressOf(url, {}), limit, offset, total: all.length });
    const last = Math.max(0, Math.ceil(all.length / limit) - 1) * limit;
    const starts = { first: 0, ...(offset + limit < all.length && { next: offset + limit }), last };
    const links = Object.entries(starts).map(
      ([rel, start]) => `<${url.origin}${addressOf(url, { limit, offset: start })}>; rel="${rel}"`,
    );
    res.setHeader("X-Total-Count", all.length).setHeader("Link", links.join(", "));
    return { [kind]: all.slice(offset, offset + limit).map((record) => noteRecord(kind, select(record))) };
  }

  /** The second page that an app asks for gets 503 at first. */
  function isBusyAt(address: string): boolean {
    const { busy, pages } = reading;
    if (busy?.address === address) busy.isRepeated = true;
    if (busy !== null || pages.length !== 1 || state.deletedAt !== null) return false;
    reading.busy = { address, isRepeated: false };
    return true;
  }

  function noteRecord(kind: Kind, record: RosterRecord): RosterRecord {
    if (kind === "users" && record["status"] === "tobedeleted") reading.hasDeletion = true;
    return record;
  }

  function refuse({ status, code, message }: RosterRefusal, version: Version, res: ServerResponse): void {
    if (status === 401 || status === 403) reading.tokenFault ??= message;
    else if (status !== 503 && message !== noRecord) reading.requestFault ??= message;
    const info = { imsx_codeMajor: "failure", imsx_severity: "error", imsx_description: message };
    const field = { imsx_codeMinorFieldName: "TargetEndSystem", imsx_codeMinorFieldValue: code };
    const body12 = { ...info, imsx_CodeMinor: { imsx_codeMinorField: [field] } };
    const body11 = { statusInfoSet: [{ ...info, imsx_CodeMinor: minorCodes11[code] ?? code }] };
    send(res, status, version === "v1p1" ? body11 : body12);
  }

  return {
    tokenRequests,
    noteToken(request, accessToken) {
      tokenRequests.push(request);
      scopes.set(accessToken, request.form.get("scope"));
    },
    answer(req, res) {
      const url = new URL(req.url ?? "/", `http://${req.headers.host}`);
      if (!url.pathname.startsWith(`${root}/`)) return false;
      const version = url.pathname.startsWith(`${folders.v1p1}/`) ? "v1p1" : "v1p2";
      const request = `${req.method} ${url.pathname}`;
      reading.lastAt = Date.now();
      try {
        if (!url.pathname.startsWith(`${folders[version]}/`))
          throw new RosterRefusal(
            404,
            "unsupported",
            `${request} is not below ${Object.values(folders).join(" or ")}.`,
          );
        checkToken(req, request);
        if (req.method !== "GET") throw new RosterRefusal(405, "unsupported", `${request} was sent: send GET.`);
        send(res, 200, read(url, version, res));
      } catch (error) {
        if (!(error instanceof RosterRefusal)) throw error;
        refuse(error, version, res);
      }
      return true;
    },
    reading: () => reading,
    deletePupil() {
      state.deletedAt = new Date();
      reading = makeReading();
    },
  };
}

const send = (res: ServerResponse, status: number, body: object): void =>
  void res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));

/** The address of a list, or of one of its pages. */
function addressOf({ pathname, searchParams }: URL, page: Readonly<Record<string, number>>): string {
  const search = new URLSearchParams(searchParams);
  for (const name of ["limit", "offset"]) search.delete(name);
  for (const [name, value] of Object.entries(page)) search.set(name, String(value));
  return search.size === 0 ? pathname : `${pathname}?${search.toString()}`;
}
